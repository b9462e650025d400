import { randomBytes } from 'node:crypto';
import { propertyOf } from '@call-attribution/core/errors';
import { Hono } from 'hono';
import { compress } from 'hono/compress';
import { limits, type Shape } from '../defaults.ts';
import { type Admission, readCredential } from './admission.ts';
import { type CallsOptions, countReply, listReply, singleReply } from './calls.ts';
import type { AppContext, AppEnv, AppRoute } from './context.ts';
import type { Route } from './public-types.ts';
import { problemOf, Refusal } from './refusal.ts';
import { smsReply } from './sms.ts';

/**
 * The routes as an app: what all requests go through, in order, then one entry for each path.
 * `prefix` comes before all paths and has no slash at its end.
 */
export function createApp(prefix: string, routes: readonly AppRoute[]): Hono<AppEnv> {
  const app = new Hono<AppEnv>();
  app.onError(refusalReply);
  app.notFound(() => {
    throw new Refusal(
      'unknown_path',
      'There is nothing at this path. Calls are at /v2/user/bid-management and /v3/user/bid-management, SMS numbers at /ibp_api.php.',
    );
  });
  const pack = compress();
  app.use((c, next) => {
    refuseHead(c.req);
    return c.env.exchange.changes.isPlain ? next() : pack(c, next);
  });

  // The links of the page need the slash at the end.
  if (prefix !== '')
    app.get(prefix, (c) => c.redirect(`${prefix.slice(prefix.lastIndexOf('/') + 1)}/`, 308));
  for (const { path, methods = ['GET'], handle } of routes) {
    const at = prefix + path.replaceAll('{', ':').replaceAll('}', '');
    app.on([...methods], at, (c) => {
      c.env.exchange.route = path;
      return handle(c);
    });
    app.all(at, (c) => {
      c.env.exchange.route = path;
      const allow = methods.map((method) => (method === 'GET' ? 'GET, HEAD' : method)).join(', ');
      throw new Refusal('method_not_allowed', `This path accepts only ${allow}.`, {
        headers: { allow },
      });
    });
  }

  return app;
}

/** The API: v2, v3, and the listing of SMS numbers. */
export function apiRoutes(
  { store, clock }: Pick<CallsOptions, 'store' | 'clock'>,
  { admit }: Admission,
  shape: Shape,
): AppRoute[] {
  const options = { store, shape, clock, salt: randomBytes(9) };
  type Reply = typeof listReply;

  const route = (path: string, version: 'v2' | 'v3', reply: Reply): AppRoute => ({
    path: `/${version}/user/bid-management${path}`,
    who: 'keys',
    takesPlace: true,
    shows: path === '/count' ? 'counts' : 'calls',
    async handle(c) {
      refuseBody(c);
      const account = await admit(c, readCredential(c.req.raw, version));
      return reply(c, account, version, options);
    },
  });

  return [
    route('', 'v3', listReply),
    route('/{sid}', 'v3', singleReply),
    route('', 'v2', listReply),
    route('/count', 'v2', (c, account) => countReply(c, account, options)),
    route('/{sid}', 'v2', singleReply),
    {
      path: '/ibp_api.php',
      methods: ['GET', 'POST'],
      who: 'keys',
      takesPlace: true,
      shows: 'nothing',
      handle: (c) => smsReply(c, store, admit),
    },
  ];
}

/**
 * A path of the application that embeds the service. Its response may be one whose headers cannot
 * be changed.
 */
export function ownRoute({ path, methods, handle }: Route): AppRoute {
  return {
    path,
    ...(methods === undefined ? {} : { methods }),
    who: 'anyone',
    takesPlace: false,
    shows: 'nothing',
    async handle(c) {
      const response = await handle(c.req.raw);
      return new Response(response.body, response);
    },
  };
}

/**
 * An error as a response: why a request is refused, or that the service failed, of which the log
 * says more.
 */
function refusalReply(error: unknown, { env: { exchange }, req }: AppContext): Response {
  if (error instanceof Refusal) return problemOf(error, exchange.requestId);

  // The client has left, and nobody reads this.
  if (req.raw.signal.aborted) return new Response(null, { status: 499 });
  exchange.fault = error;
  const refusal =
    propertyOf(error, 'isRetryable') === true
      ? new Refusal('store_unavailable', 'The store does not respond at the moment. Try again.', {
          headers: { 'retry-after': '1' },
        })
      : new Refusal(
          'internal_error',
          `The service failed. Report the request id ${exchange.requestId} to its operator.`,
        );
  return problemOf(refusal, exchange.requestId);
}

function refuseHead(req: AppContext['req']): void {
  const { url } = req;
  if (url.length - url.indexOf('/', 'https://'.length) > limits.urlBytes) {
    throw new Refusal(
      'url_too_long',
      `The URL is longer than ${limits.urlBytes} bytes. Shorten the filter.`,
    );
  }

  if (req.header('host')?.includes(',')) {
    throw new Refusal('host_header', 'The request must have exactly one header Host.', {
      parameter: 'host',
    });
  }
}

function refuseBody({ req }: AppContext): void {
  if (
    req.header('transfer-encoding') === undefined &&
    Number(req.header('content-length') ?? 0) === 0
  )
    return;
  throw new Refusal(
    'unexpected_body',
    'This request must not have a body. Send the parameters in the query.',
    { headers: { connection: 'close' } },
  );
}
