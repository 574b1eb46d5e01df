//! Times that somebody else measured, on lanes: here the timestamps that a Vulkan driver wrote.
//!
//! `cargo run --bin timestamp_lanes --features vulkan`. Any driver will do; Debian's `mesa-vulkan-drivers` has one for
//! machines without a GPU. What [`Timestamps`] does is the same for wgpu (`get_timestamp_period`) and for
//! libraries that tell only how long things took: turn their counts into moments of the host's clock, and hand
//! the zones over.

use std::error::Error;

use ash::vk;
use zonecast::{Lane, LaneKind, LaneZone, Location, Time, location, zone};

const STAMPS: u32 = 3;
const BYTES: u64 = 16 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    let _session = zonecast::start();
    // SAFETY: Vulkan's loader is safe to load.
    let Ok(entry) = (unsafe { ash::Entry::load() }) else {
        println!("No Vulkan here, so there is nothing to measure: install a driver and libvulkan1.");
        return Ok(());
    };
    // SAFETY: Vulkan's calls are made in the order and with the handles that its specification asks for, and
    // everything made is destroyed at the end of the process.
    unsafe { run(&entry) }
}

unsafe fn run(entry: &ash::Entry) -> Result<(), Box<dyn Error>> {
    // SAFETY: see `main`; so in all of this function.
    unsafe {
        let instance = entry.create_instance(&vk::InstanceCreateInfo::default(), None)?;
        let Some(&physical) = instance.enumerate_physical_devices()?.first() else {
            println!("No Vulkan device here, so there is nothing to measure: install mesa-vulkan-drivers.");
            return Ok(());
        };
        let properties = instance.get_physical_device_properties(physical);
        let priorities = [1.0];
        let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&priorities)];
        let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
        let device = instance.create_device(physical, &info, None)?;
        let queue = device.get_device_queue(0, 0);
        let buffer = buffer(&instance, physical, &device)?;
        let pool =
            vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(STAMPS);
        let pool = device.create_query_pool(&pool, None)?;
        let commands = record(&device, buffer, pool)?;

        let name = properties.device_name_as_c_str()?.to_string_lossy().into_owned();
        let mut timestamps = Timestamps::new(&name, f64::from(properties.limits.timestamp_period));
        for _ in 0..10 {
            let submitted = Time::now();
            {
                let _zone = zone!("submit and wait");
                let list = [commands];
                device.queue_submit(
                    queue,
                    &[vk::SubmitInfo::default().command_buffers(&list)],
                    vk::Fence::null(),
                )?;
                device.queue_wait_idle(queue)?;
            }
            let mut counts = [0_u64; STAMPS as usize];
            device.get_query_pool_results(pool, 0, &mut counts, vk::QueryResultFlags::TYPE_64)?;
            timestamps.pass(counts, submitted, Time::now());
        }
        println!("10 passes on {name}; {} zones left out", timestamps.lane.left_out());
    }
    Ok(())
}

/// A buffer to be filled.
///
/// # Safety
/// The handles are alive and belong together.
unsafe fn buffer(
    instance: &ash::Instance,
    physical: vk::PhysicalDevice,
    device: &ash::Device,
) -> Result<vk::Buffer, vk::Result> {
    // SAFETY: by this function's contract.
    unsafe {
        let info = vk::BufferCreateInfo::default().size(BYTES).usage(vk::BufferUsageFlags::TRANSFER_DST);
        let buffer = device.create_buffer(&info, None)?;
        let needs = device.get_buffer_memory_requirements(buffer);
        let count = instance.get_physical_device_memory_properties(physical).memory_type_count;
        let fits = |kind: &u32| needs.memory_type_bits >> kind & 1 == 1;
        let kind = (0..count).find(fits).ok_or(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY)?;
        let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(kind);
        device.bind_buffer_memory(buffer, device.allocate_memory(&info, None)?, 0)?;
        Ok(buffer)
    }
}

/// Two fills, with a timestamp before, between and after.
///
/// # Safety
/// The handles are alive and belong together.
unsafe fn record(
    device: &ash::Device,
    buffer: vk::Buffer,
    pool: vk::QueryPool,
) -> Result<vk::CommandBuffer, vk::Result> {
    // SAFETY: by this function's contract.
    unsafe {
        let commands = device.create_command_pool(&vk::CommandPoolCreateInfo::default(), None)?;
        let info = vk::CommandBufferAllocateInfo::default().command_pool(commands).command_buffer_count(1);
        let commands = device.allocate_command_buffers(&info)?[0];
        device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default())?;
        device.cmd_reset_query_pool(commands, pool, 0, STAMPS);
        let all = vk::PipelineStageFlags::ALL_COMMANDS;
        device.cmd_write_timestamp(commands, all, pool, 0);
        for (stamp, bytes) in [(1, BYTES), (2, BYTES / 4)] {
            device.cmd_fill_buffer(commands, buffer, 0, bytes, 7);
            device.cmd_write_timestamp(commands, all, pool, stamp);
        }
        device.end_command_buffer(commands)?;
        Ok(commands)
    }
}

/// Turns a device's counts into zones on a lane.
struct Timestamps {
    lane: Lane,
    /// How many nanoseconds a count is.
    period: f64,
}

impl Timestamps {
    fn new(name: &str, period: f64) -> Self {
        Self { lane: Lane::of_kind(name, LaneKind::Vulkan), period }
    }

    /// One pass: what began with the first count and ended with the last, submitted and seen done at these
    /// moments. Nobody says when the device counted what; it was in between, so the pass is put where its middle is
    /// theirs. (VK_EXT_calibrated_timestamps would say better.)
    fn pass(&mut self, counts: [u64; 3], submitted: Time, seen: Time) {
        let since_first = counts.map(|count| (count.wrapping_sub(counts[0]) as f64 * self.period) as i64);
        let slack = (seen - submitted - since_first[2]).max(0);
        let at = |index: usize| submitted.plus(slack / 2 + since_first[index]);
        let zone = |place: &'static Location, from, to| LaneZone {
            launched: Some((submitted, submitted)),
            measured_ns: since_first[to] - since_first[from],
            error_ns: slack / 2,
            ..LaneZone::new(place, at(from), at(to))
        };
        self.lane.zones(&mut [
            zone(location!("pass"), 0, 2),
            zone(location!("fill 16 MiB"), 0, 1).at_depth(1),
            zone(location!("fill 4 MiB"), 1, 2).at_depth(1),
        ]);
    }
}
