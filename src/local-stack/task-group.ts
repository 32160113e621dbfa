/**
 * Runs tasks concurrently. The first failure aborts the others, and is thrown after all of them have ended.
 * @param startTasks starts the tasks; its signal aborts them
 */
export async function runAll<const Tasks extends readonly Promise<unknown>[]>(
  signal: AbortSignal,
  startTasks: (signal: AbortSignal) => Tasks,
): Promise<{ -readonly [Index in keyof Tasks]: Awaited<Tasks[Index]> }> {
  const failure = new AbortController();
  const tasks = startTasks(AbortSignal.any([signal, failure.signal]));
  for (const task of tasks) task.catch((error: unknown) => failure.abort(error));
  await Promise.allSettled(tasks);
  failure.signal.throwIfAborted();
  return Promise.all(tasks);
}
