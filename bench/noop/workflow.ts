import { condition, defineUpdate, setHandler } from '@temporalio/workflow';

export const noopUpdate = defineUpdate('noop');

/** What an update-with-start costs by itself: no activity, no timer, no search attribute. */
export async function noop(): Promise<void> {
  let isDone = false;
  setHandler(noopUpdate, () => {
    isDone = true;
  });
  await condition(() => isDone);
}
