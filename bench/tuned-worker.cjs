// Loaded before the worker (`node --require`) in each of its threads. It changes settings for a measurement.
// BENCH_WORKER_OPTIONS: JSON that replaces options of Temporal's workers.
// BENCH_NO_SOURCE_MAPS: stack traces name the built files.
// BENCH_NO_PROMISE_STACKS: Temporal's SDK takes no stack trace at each promise of a workflow.
// Only the "call stack" of the Web UI needs these stack traces.
const { isMainThread } = require('node:worker_threads');

if (process.env.BENCH_NO_SOURCE_MAPS) process.setSourceMapsEnabled(false);
if (process.env.BENCH_NO_PROMISE_STACKS) {
  const { promiseHooks } = require('node:v8');
  const createHook = promiseHooks.createHook.bind(promiseHooks);
  // Node's own asynchronous context needs its hooks.
  const isOfTheSdk = ({ init }) => String(init).includes('promiseStackStore');
  promiseHooks.createHook = (hook) => (isOfTheSdk(hook) ? () => undefined : createHook(hook));
}

if (isMainThread) {
  const { Worker } = require('@temporalio/worker');
  const options = JSON.parse(process.env.BENCH_WORKER_OPTIONS ?? '{}');
  const create = Worker.create.bind(Worker);
  Worker.create = (own) => create({ ...own, ...options });
}
