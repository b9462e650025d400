import type { MethodHandler } from './definition.ts';
import { RpcError, rpcCodes } from './messages.ts';

/** Requests that read the API at a time, over all connections and batches of an endpoint. */
const atOnce = 8;
/** Requests that wait for their turn; one more is refused. */
const mostWaiting = 200;

const limited = new Set(['tools/call', 'resources/read']);

/** Lets few requests that read the API run at a time, however they arrive. The others wait, and can be cancelled meanwhile. */
export function inTurns(
  handlers: Readonly<Record<string, MethodHandler>>,
): Readonly<Record<string, MethodHandler>> {
  let running = 0;
  const waiting: (() => void)[] = [];

  const enter = async (signal: AbortSignal): Promise<void> => {
    if (running < atOnce) {
      running += 1;
      return;
    }
    if (waiting.length >= mostWaiting) {
      const text = `Busy: ${mostWaiting} requests are waiting already. Send it again in a few seconds.`;
      throw new RpcError(rpcCodes.serverError, text);
    }
    await new Promise<void>((resolve, reject) => {
      const begin = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        waiting.splice(waiting.indexOf(begin), 1);
        reject(new RpcError(rpcCodes.serverError, 'The request was cancelled while it was waiting.'));
      };
      waiting.push(begin);
      signal.addEventListener('abort', leave, { once: true });
    });
  };
  const exit = (): void => {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  };
  const limit =
    (handler: MethodHandler): MethodHandler =>
    async (params, context) => {
      await enter(context.signal);
      try {
        return await handler(params, context);
      } finally {
        exit();
      }
    };
  return Object.fromEntries(
    Object.entries(handlers).map(([method, handler]) => [
      method,
      limited.has(method) ? limit(handler) : handler,
    ]),
  );
}
