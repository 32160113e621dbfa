import { Context } from '@temporalio/activity';
import type { ActivityDependencies } from './dependencies';

/** Compares everything, and says in words what came of it. What it finds is opened as exceptions, or told to the workflows. */
export async function reconcilePayments(
  { reconcile }: ActivityDependencies,
  { changedSinceMs }: { readonly changedSinceMs: number },
): Promise<string> {
  const { compared, unclear, breaks } = await reconcile(new Date(changedSinceMs), (done) =>
    Context.current().heartbeat(done),
  );
  return `${compared} payments compared, ${breaks.length} breaks, ${unclear} unclear`;
}
