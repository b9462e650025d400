import { ConfigurationError, HttpError, ResponseError } from '../errors/classes.ts';
import type { HttpResponse } from '../http/dispatch.ts';
import { expectJson, parseJson, unexpectedBody } from '../page/read-json.ts';
import type { Call } from '../record/generated/calls.ts';
import { apiRequest, encode } from './api-request.ts';
import type { RequestOptions } from './options.ts';
import type { Context } from './request.ts';

/**
 * One call by its id. The API does not say how the record is wrapped, so every plausible form is
 * understood.
 */
export async function getCall(
  context: Context,
  sid: string,
  options: RequestOptions,
): Promise<Call> {
  checkSid(context, sid);
  const { requests, settings } = context;
  const tail = `/${encode(sid)}`;
  const shown = `/${encode(shownSid(sid))}`;
  const read = (response: HttpResponse) => readOne(context, sid, response);
  const job = apiRequest(settings, { operation: 'get', tail, shown, options, read });
  const { value } = await requests.request(job);
  return value;
}

/** A phone number that was typed in place of an id must not get into an error, a log or a trace. */
const shownSid = (sid: string): string =>
  /^\s*(?:\+[\d\s().-]{7,}|1?[\s.-]*\(?[2-9]\d\d\)?[\s.-]*[2-9]\d\d[\s.-]*\d{4})\s*$/.test(sid)
    ? '[number]'
    : sid;

/** Refuses ids that would lead to another path. */
function checkSid({ settings }: Context, sid: unknown): void {
  const isUsable = typeof sid === 'string' && sid.trim() !== '' && sid !== '.' && sid !== '..';
  const isCount = settings.version === 'v2' && sid === 'count';
  if (isUsable && !isCount) return;
  throw new ConfigurationError(
    'invalid_option',
    'sid must be the id of a call, a string that is not empty.',
    {
      hint: isCount
        ? 'In v2 this is the count request: use countCalls().'
        : 'Take it from the field sid of a record.',
    },
  );
}

function readOne(context: Context, sid: string, response: HttpResponse): Call {
  expectJson(response);
  const value = parseJson(response);
  const record = Array.isArray(value) && value.length <= 1 ? value[0] : value;
  if (record === undefined || record === null)
    throw new HttpError('not_found', 'The account has no call with this sid.', {
      hint: 'Check the sid, and that the credentials belong to its account.',
      status: response.status,
    });

  if (typeof record !== 'object' || Array.isArray(record) || !Object.hasOwn(record, 'sid'))
    throw unexpectedBody(record, response, 'one call record');
  const call = context.adapt(record);
  if (String(call.sid) === sid) return call;
  throw new ResponseError(
    'unexpected_shape',
    'The server sent another call than the one requested.',
    {
      hint: 'A cache on the way may have mixed up responses.',
    },
  );
}
