import { ConfigurationError, ResponseError } from '../errors/calls-error.ts';
import { encode } from '../http/query.ts';
import type { Answer } from '../http/transport.ts';
import { expectJson, notWhatWasAsked, parseJson } from '../page/read-json.ts';
import type { Call } from '../record/generated/calls.ts';
import type { SignalOptions } from './client.ts';
import type { Context } from './context.ts';

/** One call by its id. The API text does not say how it is wrapped, so that every plausible form is understood. */
export async function getCall(
  context: Context,
  sid: string,
  { signal, onResponse }: SignalOptions,
): Promise<Call> {
  checkSid(context, sid);
  const tail = `/${encode(sid)}`;
  const { requests } = context;
  const asked = await context.engine.ask({
    id: {},
    operation: 'get',
    request: requests.bidManagement(tail),
    url: requests.shown(tail),
    authHint: requests.authHint,
    signal,
    onResponse,
    read: (answer) => readOne(context, sid, answer),
  });
  return asked.value;
}

/** Ids that would make another path of the request. */
function checkSid({ settings }: Context, sid: unknown): void {
  const usable = typeof sid === 'string' && sid.trim() !== '' && sid !== '.' && sid !== '..';
  const reserved = settings.version === 'v2' && sid === 'count';
  if (usable && !reserved) return;
  throw new ConfigurationError(
    'invalid_argument',
    'sid must be the id of a call, a text that is not blank.',
    {
      hint: reserved
        ? 'In v2 this is the count request: use countCalls().'
        : 'Take it from the field sid of a record.',
    },
  );
}

function readOne(context: Context, sid: string, answer: Answer): Call {
  expectJson(answer);
  const value = parseJson(answer);
  const record = Array.isArray(value) && value.length <= 1 ? value[0] : value;
  if (record === undefined || record === null) throw notFound(answer);
  if (typeof record !== 'object' || Array.isArray(record) || !Object.hasOwn(record, 'sid'))
    throw notWhatWasAsked(record, answer, 'one call record');
  const call = context.adapt(record);
  if (String(call.sid) === sid) return call;
  throw new ResponseError('unexpected_shape', 'The server sent another call than the one asked for.', {
    isRetryable: true,
    hint: 'A cache on the way may mix up answers.',
  });
}

function notFound(answer: Answer): ResponseError {
  return new ResponseError('not_found', 'There is no call with this sid in the account.', {
    status: answer.status,
    hint: 'Check the sid, and that the credentials belong to its account.',
  });
}
