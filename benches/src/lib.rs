//! What a zone costs, beside its peers.
