// Loaded before a service (`node --require`) in each of its threads: writes a CPU profile to BENCH_PROFILE_DIRECTORY as
// soon as that has a file `stop`. `--cpu-prof` of Node.js is not allowed in NODE_OPTIONS, and loses threads that are
// terminated.
const { existsSync, writeFileSync } = require('node:fs');
const { Session } = require('node:inspector');
const path = require('node:path');
const { threadId } = require('node:worker_threads');

const directory = process.env.BENCH_PROFILE_DIRECTORY;
const fileOf = (suffix) => path.join(directory, `thread-${threadId}.${suffix}`);

const session = new Session();
session.connect();
session.post('Profiler.enable');
session.post('Profiler.start');
writeFileSync(fileOf('started'), '');
const watch = setInterval(() => existsSync(path.join(directory, 'stop')) && stop(), 200).unref();

function stop() {
  clearInterval(watch);
  session.post('Profiler.stop', (error, response) => {
    if (!error) writeFileSync(fileOf('cpuprofile'), JSON.stringify(response.profile));
  });
}
