//! The layer looks spans up, which a subscriber must offer.

use tracing_subscriber::layer::SubscriberExt;

fn main() {
    let _ = tracing::subscriber::NoSubscriber::default().with(zonecast_tracing::ZonecastLayer::new());
}
