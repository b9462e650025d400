import { ndjsonOf } from './ndjson.ts';
import type { StreamOptions } from './options.ts';
import type { PageClient } from './page-client.ts';
import { SessionStream } from './session-stream.ts';
import type { Batch } from './walk.ts';

/** Options of `createCallByteStream`: nothing is parsed, so no record can be dead. */
export type CallByteStreamOptions = Omit<StreamOptions, 'onError'>;

/**
 * Every record of a query, once, as lines of JSON in the words of the server, cut out of its pages without parsing.
 * Its checkpoint moves page by page: a page counts as taken when all of its bytes were.
 */
export class CallByteStream extends SessionStream {
  #lines: Buffer | null = null;
  #batch: Batch | null = null;

  constructor(client: PageClient, options: CallByteStreamOptions = {}) {
    super(client, options, {});
  }

  protected override get heldBack(): number {
    return this.#lines?.length ?? 0;
  }

  protected override begin(batch: Batch): void {
    this.#batch = batch;
    this.#lines = ndjsonOf(batch, true);
    this.session.ledger.enter(batch, this.#lines.length, 'byte');
  }

  protected override feed(): boolean {
    const [lines, batch] = [this.#lines, this.#batch];
    if (lines === null || batch === null) return true;
    this.#lines = null;
    this.#batch = null;
    const wantsMore = lines.length === 0 || this.push(lines);
    if (batch.isLast) this.announce(batch);
    this.session.report();
    return wantsMore;
  }
}

/** Every record of a query, once, as a Readable of NDJSON bytes. */
export function createCallByteStream(
  client: PageClient,
  options: CallByteStreamOptions = {},
): CallByteStream {
  return new CallByteStream(client, options);
}
