import { isUtf8 } from 'node:buffer';
import { ConfigurationError, ResponseError } from '../errors/calls-error.ts';
import { messages } from '../errors/messages.ts';
import type { HttpResponse } from '../http/transport.ts';
import { countOf } from '../page/content-range.ts';
import { brokenUtf8, decodeText, startsWith, unexpectedBody } from '../page/read-json.ts';
import { type ByteRange, splitRecords } from '../page/split-records.ts';
import type { Call } from '../record/generated/calls.ts';
import type { RawPage } from './client.ts';
import type { Context } from './context.ts';
import type { ListQuery } from './options.ts';
import { type PageReader, readQuery, refuseShifted, requestPage } from './page-request.ts';

interface Split {
  readonly bytes: Uint8Array;
  readonly ranges: readonly ByteRange[];
}

const splitReader: PageReader<Split> = {
  read(response, range) {
    refuseObject(response);
    if (!isUtf8(response.body)) throw brokenUtf8();
    const ranges = splitRecords(response.body, countOf(range));
    return { content: { bytes: response.body, ranges }, count: ranges.length };
  },
  empty: { bytes: Buffer.from('[]'), ranges: [] },
};

/** An object instead of an array is an error in disguise. Only then the body is parsed, to say which. */
function refuseObject(response: HttpResponse): void {
  if (!startsWith(response.body, '{')) return;
  let value: unknown;
  try {
    value = JSON.parse(decodeText(response.body));
  } catch {
    return;
  }
  throw unexpectedBody(value, response, 'a JSON array of calls');
}

/** One page as bytes: complete, the right one, its records counted, but not parsed. */
export async function fetchPage(context: Context, query: ListQuery): Promise<RawPage> {
  const page = await requestPage(context, readQuery(context, query), splitReader);
  refuseShifted(page);
  const { bytes, ranges } = page.content;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const record = (index: number): Call => {
    const range = ranges[index];
    if (!range)
      throw new ConfigurationError(
        'invalid_option',
        `There is no record ${index} in a page of ${ranges.length}.`,
      );
    // The page is known to be UTF-8. Decoding in place is cheaper than a view for each record.
    return context.adapt(parsed(buffer.toString('utf8', range.start, range.end)));
  };
  return {
    bytes,
    range: page.range,
    meta: page.meta,
    count: page.count,
    byteRanges: () => ranges,
    records: () => ranges.map((_, index) => record(index)),
    record,
  };
}

/** Only boundaries were checked when the page came; what is between them may still be broken. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ResponseError('invalid_json', messages.recordJsonInvalid());
  }
}
