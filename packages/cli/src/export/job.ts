import type { Clock } from '@call-attribution/core';
import type { CallStreamOptions } from '@call-attribution/node-stream';
import type { Filter } from '@call-attribution/query-dsl';
import type { Settings } from '@call-attribution/settings';
import type { Source } from '../input/source.ts';
import type { ReadResult } from '../input/verdict.ts';

/** What writing the calls of one account needs. */
export interface Job {
  readonly settings: Settings;
  readonly source: Source;
  readonly filter: Filter;
  /** A condition that calls fulfil besides; null for none. */
  readonly where: string | null;
  /** How the calls are read. */
  readonly stream: CallStreamOptions;
  readonly signal: AbortSignal;
  readonly clock: Pick<Clock, 'now'>;
  /** Takes what is to be said before the end. */
  readonly onNote: (text: string) => void;
}

/** Writes the calls in one way. Resolves with how the reading ended. */
export type Writer = (job: Job) => Promise<ReadResult>;
