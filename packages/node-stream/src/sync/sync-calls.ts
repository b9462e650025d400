import type { SyncChange, SyncOptions } from './sync-options.ts';
import type { StateStore } from './sync-state.ts';
import { type SyncClient, syncSteps } from './sync-steps.ts';

/**
 * What is new and what has changed since the last run, by `sid` and content. The state is saved when the consumer asks
 * for more, so that what it had not dealt with before a crash comes again.
 */
export async function* syncCalls(
  client: SyncClient,
  options: SyncOptions & { state: StateStore },
): AsyncGenerator<SyncChange, void, void> {
  const { state, ...rest } = options;
  const unlock = await state.lock?.();
  try {
    for await (const step of syncSteps(client, await state.load(), rest)) {
      yield* step.changes;
      await state.save(step.state);
    }
  } finally {
    await unlock?.();
  }
}
