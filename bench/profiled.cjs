// Loaded before a service (`node --require`) in each of its threads: writes a CPU profile to BENCH_PROFILE_DIRECTORY.
// `--cpu-prof` of Node.js is not allowed in NODE_OPTIONS, and loses threads that are terminated.
const { writeFileSync } = require('node:fs');
const { Session } = require('node:inspector');
const path = require('node:path');
const { threadId } = require('node:worker_threads');

const directory = process.env.BENCH_PROFILE_DIRECTORY;
const startMs = Number(process.env.BENCH_PROFILE_START_MS);
const lengthMs = Number(process.env.BENCH_PROFILE_LENGTH_MS);

const session = new Session();
session.connect();
session.post('Profiler.enable');
setTimeout(() => {
  session.post('Profiler.start');
  setTimeout(stop, lengthMs).unref();
}, startMs).unref();

function stop() {
  session.post('Profiler.stop', (error, response) => {
    if (error) return;
    writeFileSync(path.join(directory, `thread-${threadId}.cpuprofile`), JSON.stringify(response.profile));
  });
}
