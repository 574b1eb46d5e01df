//! A zone stays on its thread, so a task that holds one while it waits cannot be spawned.

fn spawn(_: impl Future<Output = ()> + Send) {}

fn main() {
    spawn(async {
        let _zone = zonecast::zone!("held");
        std::future::ready(()).await;
    });
}
