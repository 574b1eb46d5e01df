// Runs Perfetto's trace processor, of the viewer in the folder given, on standard input and output: each request
// and each answer is its length in four bytes, and a TraceProcessorRpcStream; a request waits for the answer to
// the one before. The viewer's worker finds what a browser would give it.
"use strict";
const fs = require("fs");
const path = require("path");

const { stdin, stdout, stderr } = process;
const folder = process.argv[2];
const read = (url) => fs.readFileSync(path.join(folder, path.basename(String(url))));

const answers = [];
const port = { onmessage: null, postMessage: (bytes) => answers.push(Buffer.from(bytes)) };

function becomeWorker() {
    globalThis.self = globalThis;
    globalThis.location = { href: "http://localhost/engine_bundle.js" };
    globalThis.WorkerGlobalScope = class {};
    globalThis.importScripts = () => {};
    globalThis.XMLHttpRequest = class {
        open(_method, url) {
            this.url = url;
        }
        send() {
            this.status = 200;
            this.response = new Uint8Array(read(this.url)).buffer;
        }
    };
    const say = (...words) => stderr.write(words.join(" ") + "\n");
    globalThis.console = { ...console, log: () => {}, warn: () => {}, error: say };
    // In Node, the worker would not run.
    globalThis.process = undefined;
}

let isReady = false;
function answer(request) {
    answers.length = 0;
    try {
        port.onmessage({ data: new Uint8Array(request) });
    } catch (error) {
        // The module has no memory before it is compiled.
        if (isReady || !(error instanceof TypeError)) throw error;
        setTimeout(answer, 100, request);
        return;
    }
    isReady = true;
    const bytes = Buffer.concat(answers);
    const length = Buffer.alloc(4);
    length.writeUInt32LE(bytes.length);
    stdout.write(length);
    stdout.write(bytes);
}

let input = Buffer.alloc(0);
function take(bytes) {
    input = Buffer.concat([input, bytes]);
    while (input.length >= 4 && input.length >= 4 + input.readUInt32LE()) {
        const end = 4 + input.readUInt32LE();
        const request = input.subarray(4, end);
        input = input.subarray(end);
        answer(request);
    }
}

becomeWorker();
(0, eval)(read("engine_bundle.js").toString());
globalThis.onmessage({ data: port });
stdin.on("data", take);
