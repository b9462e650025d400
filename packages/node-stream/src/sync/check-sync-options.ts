import {
  checkOption,
  group,
  kinds,
  type OptionKind,
  type OptionShape,
  whole,
  withMethods,
} from '@call-attribution/core/errors';
import { duration } from '../option-kinds.ts';
import { checkRead, streamShape } from '../source/check-stream-options.ts';
import type { MovingPeriod, SyncOptions } from './sync-options.ts';

const { filter, rows, prefetch, window, signal, timeout, retry, headers, onProgress, onError, now } =
  streamShape;

const syncShape = {
  filter,
  rows,
  prefetch,
  window,
  signal,
  timeout,
  retry,
  headers,
  onProgress,
  onError,
  now,
  period: group({
    name: kinds.string,
    from: kinds.anything,
    to: kinds.anything,
  } satisfies OptionShape & Record<keyof MovingPeriod, OptionKind>),
  lookback: duration,
  settle: duration,
  isFinal: kinds.callback,
  maxRechecks: whole(0),
  ignore: kinds.list,
  recall: kinds.callback,
} satisfies OptionShape & Record<keyof SyncOptions, OptionKind>;

const stateKind = withMethods('a state such as fileState(path)', 'load', 'save');
const sinkKind = withMethods('a sink with load() and commit()', 'load', 'commit');

/** Refuses what `syncCalls` cannot use. */
export function checkSyncCalls(client: unknown, options: { readonly state?: unknown }): void {
  const { state, ...rest } = options ?? {};
  checkRead(client, rest, { ...syncShape, state: stateKind });
  checkOption('state', stateKind, state);
}

/** Refuses what `syncInto` cannot use. */
export function checkSyncInto(client: unknown, sink: unknown, options: unknown): void {
  checkRead(client, options, syncShape);
  checkOption('sink', sinkKind, sink);
}
