// Loaded before the worker (`node --require`) in each of its threads. It changes settings for a measurement.
// BENCH_WORKER_OPTIONS: JSON that replaces options of Temporal's workers.
// BENCH_NO_SOURCE_MAPS: stack traces name the built files.
// BENCH_NO_WORKFLOW_TIME_LIMIT: Node.js starts no thread that limits the time of an entry into the sandbox.
const { Script } = require('node:vm');
const { isMainThread } = require('node:worker_threads');

if (process.env.BENCH_NO_SOURCE_MAPS) process.setSourceMapsEnabled(false);
if (process.env.BENCH_NO_WORKFLOW_TIME_LIMIT) {
  const { value: runInContext } = Object.getOwnPropertyDescriptor(Script.prototype, 'runInContext');
  Script.prototype.runInContext = function (context, { timeout: _limit, ...options } = {}) {
    return Reflect.apply(runInContext, this, [context, options]);
  };
}
if (isMainThread) {
  const { Worker } = require('@temporalio/worker');
  const options = JSON.parse(process.env.BENCH_WORKER_OPTIONS ?? '{}');
  const create = Worker.create.bind(Worker);
  Worker.create = (own) => create({ ...own, ...options });
}
