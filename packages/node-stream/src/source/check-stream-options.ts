import {
  checkOption,
  checkOptions,
  either,
  group,
  kinds,
  type OptionKind,
  type OptionShape,
  oneOf,
  only,
  whole,
  withMethods,
} from '@call-attribution/core/errors';
import { duration } from '../option-kinds.ts';
import type { StreamOptions, WindowOptions } from './options.ts';

/** A filter; what is wrong within a string is reported by its parser. */
const filter: OptionKind = {
  expected: 'a string in the language of q, a parsed filter or a builder',
  accepts: (value) => typeof value === 'string' || (typeof value === 'object' && value !== null),
};

/** The options that all reads have. */
export const streamShape = {
  filter,
  rows: whole(1),
  prefetch: either(whole(1), group({ pages: whole(1), bytes: whole(1) })),
  window: either(
    only(false),
    group({
      pages: whole(1),
      settle: duration,
      sealedBefore: kinds.string,
      tries: whole(1),
      bounds: oneOf('auto', 'half-open', 'closed'),
    } satisfies OptionShape & Record<keyof WindowOptions, OptionKind>),
  ),
  checkpoint: kinds.anything,
  signal: kinds.signal,
  timeout: kinds.object,
  retry: kinds.object,
  headers: kinds.object,
  onProgress: kinds.callback,
  onError: either(oneOf('fail', 'skip'), kinds.callback),
  onChange: oneOf('again', 'keep'),
  incomplete: oneOf('fail', 'report'),
  now: kinds.callback,
} satisfies OptionShape & Record<keyof StreamOptions, OptionKind>;

const clientKind = withMethods('a client made by createClient()', 'fetchPage');

/** Refuses a client or options that a read cannot use, before anything is sent. */
export function checkRead(client: unknown, options: unknown, shape: OptionShape): void {
  checkOption('client', clientKind, client);
  checkOptions(options, shape);
}
