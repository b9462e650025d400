import { isUtf8 } from 'node:buffer';
import { ConfigurationError, ResponseError } from '../errors/calls-error.ts';
import type { HttpResponse } from '../http/dispatch.ts';
import { countOf } from '../page/content-range.ts';
import { brokenUtf8, decodeText, startsWith, unexpectedBody } from '../page/read-json.ts';
import { type ByteRange, splitRecords } from '../page/split-records.ts';
import type { Call } from '../record/generated/calls.ts';
import type { RawPage } from './client.ts';
import type { ListQuery } from './options.ts';
import type { Context } from './request.ts';
import { type PageReader, readQuery, refuseShifted, requestPage } from './request-page.ts';

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

/** One page as bytes: complete, the right one, its records counted, but not parsed before one of them is read. */
export async function fetchPage(context: Context, query: ListQuery): Promise<RawPage> {
  const page = await requestPage(context, readQuery(context, query), splitReader);
  refuseShifted(page);
  const { bytes, ranges } = page.content;
  let values: unknown[] | undefined;
  const record = (index: number): Call => {
    const range = ranges[index];
    if (!range)
      throw new ConfigurationError(
        'invalid_option',
        `There is no record ${index} in a page of ${ranges.length}.`,
      );
    values ??= parsedPage(bytes);
    const value = values[index];
    // Each value is given away once; whoever reads a record again gets another one.
    values[index] = undefined;
    return context.adapt(value ?? parsedRecord(bytes, range));
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

/** All records at once; none when one of them is broken, so that each is parsed by itself and only that one fails. */
function parsedPage(bytes: Uint8Array): unknown[] {
  try {
    return JSON.parse(decodeText(bytes));
  } catch {
    return [];
  }
}

function parsedRecord(bytes: Uint8Array, { start, end }: ByteRange): unknown {
  try {
    return JSON.parse(decodeText(bytes.subarray(start, end)));
  } catch {
    throw new ResponseError('invalid_json', 'A record of the page is not valid JSON.', {
      hint: 'listCalls() requests such a page again.',
    });
  }
}
