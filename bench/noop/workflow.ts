import { condition, defineUpdate, setHandler } from '@temporalio/workflow';

export const noopUpdate = defineUpdate('noop');

/** Measures update-with-start alone: no activity, no timer, no search attribute. */
export async function noop(): Promise<void> {
  let isDone = false;
  setHandler(noopUpdate, () => {
    isDone = true;
  });
  await condition(() => isDone);
}
