import type { Store } from '@call-attribution/store';
import { countReply, listReply, singleReply } from './calls.ts';
import { readCredential } from './credentials.ts';
import type { Exchange, Reply, Route } from './exchange.ts';
import type { Gate } from './gate.ts';
import { Refusal } from './refusal.ts';
import { smsReply } from './sms.ts';

const callsPath = /^\/(v2|v3)\/user\/bid-management(?:\/([^/]+))?$/;

/** Is this a path of the API? */
export const isApiPath = (path: string): boolean => path === '/ibp_api.php' || callsPath.test(path);

/** Handles a request, or returns null when its path is not known here. */
export type Handler = (exchange: Exchange) => Promise<Reply> | null;

/** The first handler that knows the path makes the reply. */
export function firstOf(...handlers: readonly Handler[]): (exchange: Exchange) => Promise<Reply> {
  return async (exchange) => {
    for (const handler of handlers) {
      const reply = handler(exchange);
      if (reply !== null) return reply;
    }
    throw new Refusal(
      404,
      'unknown_path',
      'There is nothing at this path. Calls are at /v2/user/bid-management and /v3/user/bid-management, SMS numbers at /ibp_api.php.',
    );
  };
}

/** Handles the given paths. */
export function createRoutes(routes: readonly Route[]): Handler {
  const byPath = new Map(routes.map((route) => [route.path, route]));
  return (exchange) => {
    const route = byPath.get(exchange.path);
    if (route === undefined) return null;
    exchange.route = route.path;
    const methods = route.methods ?? ['GET'];
    allowMethods(exchange, methods.includes('GET') ? [...methods, 'HEAD'] : methods);
    return Promise.resolve(route.handle(exchange));
  };
}

/** Handles the API: checks the credentials, reads the parameters, queries the store. */
export function createApi(store: Store, gate: Gate): Handler {
  const calls = async (
    exchange: Exchange,
    version: 'v2' | 'v3',
    segment: string | undefined,
  ): Promise<Reply> => {
    const isCount = version === 'v2' && segment === 'count';
    const kind = segment === undefined ? '' : isCount ? '/count' : '/{sid}';
    exchange.route = `/${version}/user/bid-management${kind}`;
    allowMethods(exchange, ['GET', 'HEAD']);
    refuseBody(exchange);
    return exchange.turn(async () => {
      const { account, headers } = await gate(readCredential(exchange.request, version));
      exchange.account = account;
      const reply =
        segment === undefined
          ? await listReply(store, account, version, exchange)
          : isCount
            ? await countReply(store, account, exchange)
            : await singleReply(store, account, version, decodeSid(segment), exchange);
      return { ...reply, headers: { ...reply.headers, ...headers } };
    });
  };

  return (exchange) => {
    if (exchange.path === '/ibp_api.php') {
      exchange.route = exchange.path;
      allowMethods(exchange, ['GET', 'HEAD', 'POST']);
      return smsReply(store, gate, exchange);
    }
    const found = callsPath.exec(exchange.path);
    return found === null ? null : calls(exchange, found[1] === 'v2' ? 'v2' : 'v3', found[2]);
  };
}

function allowMethods(exchange: Exchange, methods: readonly string[]): void {
  if (methods.includes(exchange.method)) return;
  const list = methods.join(', ');
  throw new Refusal(405, 'method_not_allowed', `This path accepts only ${list}.`, {
    headers: { allow: list },
  });
}

function refuseBody({ request }: Exchange): void {
  const { 'content-length': length, 'transfer-encoding': transfer } = request.headers;
  if (transfer === undefined && (length === undefined || Number(length) === 0)) return;
  throw new Refusal(
    400,
    'unexpected_body',
    'This request must not have a body. Send the parameters in the query.',
    { headers: { connection: 'close' } },
  );
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
