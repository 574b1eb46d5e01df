//! What is launched: kernels of modules, and graphs.

use std::collections::HashMap;

use crate::{Function, Kernel, Module, Sim, code};

/// A node of a graph.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    /// So many nanoseconds of work.
    Work(i64),
    /// The event of a node is recorded.
    Event { node: u64, event: u64 },
}

/// Graphs and what was instantiated from them, by their handles.
#[derive(Debug, Default)]
pub(crate) struct Graphs(HashMap<u64, Vec<Op>>);

/// Modules, functions and what kernels do.
#[derive(Debug, Default)]
pub struct Programs {
    modules: HashMap<u64, Module>,
    functions: HashMap<u64, Function>,
    /// What the kernels of these names do.
    pub kernels: HashMap<String, Kernel>,
}

impl Programs {
    /// The function of a handle.
    ///
    /// # Errors
    /// If there is none.
    pub fn function(&self, function: u64) -> Result<&Function, u32> {
        self.functions.get(&function).ok_or(code::INVALID_HANDLE)
    }

    /// Where a variable of a module is, and its size.
    ///
    /// # Errors
    /// If there is no such module or variable.
    pub fn global(&self, module: u64, name: &str) -> Result<(u64, usize), u32> {
        self.modules.get(&module).ok_or(code::INVALID_HANDLE)?.global(name).ok_or(code::NOT_FOUND)
    }
}

impl Sim {
    /// Loads a module: of PTX, or without a text one of machine code.
    ///
    /// # Errors
    /// As the faults want it.
    pub fn load_module(&mut self, ptx: Option<&str>) -> Result<u64, u32> {
        self.call("load_module")?;
        let module = match ptx {
            Some(text) => Module::from_ptx(text, &mut self.memory)?,
            None => Module::opaque(),
        };
        let handle = self.handle();
        self.programs.modules.insert(handle, module);
        Ok(handle)
    }

    /// Unloads a module.
    ///
    /// # Errors
    /// If there is none of that handle, or as the faults want it.
    pub fn unload_module(&mut self, module: u64) -> Result<(), u32> {
        self.call("unload_module")?;
        self.programs.modules.remove(&module).map(drop).ok_or(code::INVALID_HANDLE)
    }

    /// A function of a module.
    ///
    /// # Errors
    /// If there is no such module or function, or as the faults want it.
    pub fn module_function(&mut self, module: u64, name: &str) -> Result<u64, u32> {
        self.call("module_function")?;
        let module = self.programs.modules.get(&module).ok_or(code::INVALID_HANDLE)?;
        let function = module.function(name).ok_or(code::NOT_FOUND)?;
        let handle = self.handle();
        self.programs.functions.insert(handle, function);
        Ok(handle)
    }

    /// Launches a kernel: so many blocks of so many threads take their time. Returns what it does, which
    /// is the caller's to call.
    ///
    /// # Errors
    /// If there is no such function, the shape is empty, or as the faults want it.
    pub fn launch_kernel(
        &mut self,
        function: u64,
        shape: [u32; 6],
        stream: u64,
    ) -> Result<Option<Kernel>, u32> {
        self.call("launch_kernel")?;
        let name = &self.programs.function(function)?.name;
        let kernel = self.programs.kernels.get(name).copied();
        let threads: u64 = shape.iter().map(|size| u64::from(*size)).product();
        if threads == 0 {
            return Err(code::INVALID_VALUE);
        }
        let is_captured = self.is_capturing(stream)?;
        self.run(stream, 2_000 + i64::try_from(threads / 64).unwrap_or(i64::MAX).min(1_000_000_000))?;
        Ok(kernel.filter(|_| !is_captured))
    }

    /// Makes a graph without nodes.
    pub fn create_graph(&mut self) -> u64 {
        let graph = self.handle();
        self.graphs.0.insert(graph, Vec::new());
        graph
    }

    /// Adds an event's node to a graph; returns the node. A graph is any number.
    ///
    /// # Errors
    /// As the faults want it.
    pub fn add_graph_event(&mut self, graph: u64, event: u64) -> Result<u64, u32> {
        self.call("add_graph_event")?;
        self.event(event)?;
        let node = self.handle();
        let ops = self.graphs.0.entry(graph).or_default();
        ops.extend([Op::Event { node, event }, Op::Work(50_000)]);
        Ok(node)
    }

    /// Has a node record another event.
    ///
    /// # Errors
    /// If there is no such node, or as the faults want it.
    pub fn set_graph_event(&mut self, graph: u64, node: u64, event: u64) -> Result<(), u32> {
        self.call("set_graph_event")?;
        self.event(event)?;
        let ops = self.graphs.0.get_mut(&graph).ok_or(code::INVALID_HANDLE)?;
        let of_node = |op: &&mut Op| matches!(op, Op::Event { node: of, .. } if *of == node);
        *ops.iter_mut().find(of_node).ok_or(code::INVALID_HANDLE)? = Op::Event { node, event };
        Ok(())
    }

    /// Ends the capture of a stream. Returns the graph.
    ///
    /// # Errors
    /// If it was not captured.
    pub fn captured_graph(&mut self, stream: u64) -> Result<u64, u32> {
        let ops = self.end_capture(stream).ok_or(code::INVALID_VALUE)?;
        let graph = self.handle();
        self.graphs.0.insert(graph, ops);
        Ok(graph)
    }

    /// Makes a graph that can be launched of one that is built.
    ///
    /// # Errors
    /// If there is no such graph.
    pub fn instantiate(&mut self, graph: u64) -> Result<u64, u32> {
        let ops = self.graphs.0.get(&graph).cloned().ok_or(code::INVALID_HANDLE)?;
        let instance = self.handle();
        self.graphs.0.insert(instance, ops);
        Ok(instance)
    }

    /// Destroys a graph or an instance.
    ///
    /// # Errors
    /// If there is none.
    pub fn destroy_graph(&mut self, graph: u64) -> Result<(), u32> {
        self.graphs.0.remove(&graph).map(drop).ok_or(code::INVALID_HANDLE)
    }

    /// Launches a graph: what is in it, one after the other.
    ///
    /// # Errors
    /// If there is no such graph, or as the faults want it.
    pub fn launch_graph(&mut self, graph: u64, stream: u64) -> Result<(), u32> {
        self.call("launch")?;
        let ops = self.graphs.0.get(&graph).cloned().ok_or(code::INVALID_HANDLE)?;
        for op in ops {
            match op {
                Op::Work(ns) => drop(self.run(stream, ns)?),
                Op::Event { event, .. } => self.record(event, stream)?,
            }
        }
        Ok(())
    }
}
