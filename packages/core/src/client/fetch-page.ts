import { isUtf8 } from 'node:buffer';
import { ResponseError } from '../errors/calls-error.ts';
import type { Answer } from '../http/transport.ts';
import { countOf } from '../page/content-range.ts';
import { parseRanges } from '../page/parse-in-pieces.ts';
import { brokenUtf8, decodeText, notWhatWasAsked, startsWith } from '../page/read-json.ts';
import { type ByteRange, splitRecords } from '../page/split-records.ts';
import type { Call } from '../record/generated/calls.ts';
import type { ListQuery, RawPage } from './client.ts';
import type { Context } from './context.ts';
import { askPage, type PageReader, readQuery, refuseShifted } from './list-calls.ts';

interface Split {
  readonly bytes: Uint8Array;
  readonly ranges: readonly ByteRange[];
}

const splitReader: PageReader<Split> = {
  read(answer, range) {
    refuseObject(answer);
    if (!isUtf8(answer.body)) throw brokenUtf8();
    const ranges = splitRecords(answer.body, countOf(range));
    return { content: { bytes: answer.body, ranges }, count: ranges.length };
  },
  empty: { bytes: Buffer.from('[]'), ranges: [] },
};

/** An object where an array belongs is an error in disguise; only then the body is parsed, to say which. */
function refuseObject(answer: Answer): void {
  if (!startsWith(answer.body, '{')) return;
  let value: unknown;
  try {
    value = JSON.parse(decodeText(answer.body));
  } catch {
    return;
  }
  throw notWhatWasAsked(value, answer, 'a JSON array of calls');
}

/** One page as bytes: whole, in its place, its records counted, but not parsed. */
export async function fetchPage(context: Context, query: ListQuery): Promise<RawPage> {
  const page = await askPage(context, readQuery(context, query), splitReader);
  refuseShifted(page);
  const { bytes, ranges } = page.content;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let isReleased = false;
  const use = () => {
    if (isReleased) throw new RangeError('The page has been released; its bytes belong to another one now.');
    return buffer;
  };
  const record = (index: number): Call => {
    const range = ranges[index];
    if (!range) throw new RangeError(`There is no record ${index} in a page of ${ranges.length}.`);
    // The page is known to be UTF-8. Decoding in place is cheaper than a view for each record.
    return context.adapt(parsed(use().toString('utf8', range.start, range.end)));
  };
  return {
    bytes,
    range: page.range,
    meta: page.meta,
    count: page.count,
    byteRanges: () => ranges,
    records: () =>
      (parseRanges(use(), ranges) ?? (parsed(decodeText(use())) as unknown[])).map(context.adapt),
    record,
    release() {
      // A second time the memory may be another page's already.
      if (isReleased) return;
      isReleased = true;
      context.engine.reuse(bytes);
    },
  };
}

/** Only borders were checked when the page came; what lies between them may still be broken. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ResponseError('invalid_json', 'A record of the page is no valid JSON.', {
      hint: 'listCalls() asks again for such a page.',
    });
  }
}
