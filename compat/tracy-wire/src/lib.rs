//! A headless receiver for Tracy's protocol: capture a live stream and ask questions about it.
