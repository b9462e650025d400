import type { Store } from '@call-attribution/store';
import { countAnswer, listAnswer, singleAnswer } from './calls-routes.ts';
import { readCredential } from './credentials.ts';
import type { Answer, Exchange, Route } from './exchange.ts';
import type { Gate } from './gate.ts';
import { Refusal } from './refusal.ts';
import { smsAnswer } from './sms-route.ts';

const callsPath = /^\/(v2|v3)\/user\/bid-management(?:\/([^/]+))?$/;

type Answering = (exchange: Exchange) => Promise<Answer>;

/** Answers the given paths and hands everything else on; without a next one, nothing else is there. */
export function createRoutes(routes: readonly Route[], next: Answering = nothingThere): Answering {
  const byPath = new Map(routes.map((route) => [route.path, route]));
  return async (exchange) => {
    const route = byPath.get(exchange.path);
    if (route === undefined) return next(exchange);
    exchange.route = route.path;
    const methods = route.methods ?? ['GET'];
    allow(exchange, methods.includes('GET') ? [...methods, 'HEAD'] : methods);
    return route.handle(exchange);
  };
}

/** Answers the API: finds the path, lets the key in, reads the parameters, asks the store. */
export function createApi(store: Store, gate: Gate): Answering {
  const calls = async (
    exchange: Exchange,
    version: 'v2' | 'v3',
    segment: string | undefined,
  ): Promise<Answer> => {
    const counts = version === 'v2' && segment === 'count';
    const kind = segment === undefined ? '' : counts ? '/count' : '/{sid}';
    exchange.route = `/${version}/user/bid-management${kind}`;
    allow(exchange, ['GET', 'HEAD']);
    refuseBody(exchange);
    const { account, headers } = await gate(readCredential(exchange.request, version));
    exchange.account = account;
    const answer =
      segment === undefined
        ? await listAnswer(store, account, version, exchange)
        : counts
          ? await countAnswer(store, account, exchange)
          : await singleAnswer(store, account, version, decodeSid(segment), exchange);
    return { ...answer, headers: { ...answer.headers, ...headers } };
  };

  return async (exchange) => {
    if (exchange.path === '/ibp_api.php') {
      exchange.route = exchange.path;
      allow(exchange, ['GET', 'HEAD', 'POST']);
      return smsAnswer(store, gate, exchange);
    }
    const found = callsPath.exec(exchange.path);
    return found === null ? nothingThere() : calls(exchange, found[1] as 'v2' | 'v3', found[2]);
  };
}

async function nothingThere(): Promise<never> {
  throw new Refusal(
    404,
    'unknown_path',
    'There is nothing at this path. Calls are at /v2/user/bid-management and /v3/user/bid-management, SMS numbers at /ibp_api.php.',
  );
}

function allow(exchange: Exchange, methods: readonly string[]): void {
  if (methods.includes(exchange.method)) return;
  const list = methods.join(', ');
  throw new Refusal(405, 'method_not_allowed', `This path takes ${list} only.`, { headers: { allow: list } });
}

function refuseBody({ request }: Exchange): void {
  const { 'content-length': length, 'transfer-encoding': transfer } = request.headers;
  if (transfer === undefined && (length === undefined || Number(length) === 0)) return;
  throw new Refusal(400, 'unexpected_body', 'This request takes no body. Send the parameters in the query.', {
    headers: { connection: 'close' },
  });
}

function decodeSid(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new Refusal(400, 'malformed_encoding', 'The sid in the path is not valid percent-encoded UTF-8.', {
      parameter: 'sid',
    });
  }
}
