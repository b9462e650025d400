import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Socket } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { reveal } from '../auth/secret.ts';
import { closeAgent, type OwnDispatcher } from './dispatch.ts';
import { connectOptions, lookupWithin } from './lookup.ts';
import { ProxyFailure, type ProxyServer } from './proxy.ts';

/** Options that an agent of undici gets, whether there is a proxy or not. */
type AgentOptions = Omit<Agent.Options, 'connect'>;

/**
 * An agent that reaches one server through a proxy: a server with https through a tunnel (CONNECT),
 * so that the proxy sees neither keys nor calls; a server with http by passing the whole request to
 * the proxy.
 *
 * Undici has an agent for proxies, too. This one is our own since that one connects without end
 * when a proxy closes the connection, and reports the status of a proxy only in the message of an
 * error.
 */
export function openProxyDispatcher(
  server: string,
  proxy: ProxyServer,
  connectMs: number,
  options: AgentOptions,
): OwnDispatcher {
  const connector = buildConnector(connectOptions(connectMs));
  if (server.startsWith('https:')) {
    const agent = new Agent({ ...options, connect: tunnelConnector(proxy, connectMs, connector) });
    return {
      dispatch: (request, handler) => agent.dispatch(request, handler),
      close: (idle) => closeAgent(agent, idle),
    };
  }

  const agent = new Agent({
    ...options,
    connect: (target, done) =>
      connector(target, (error, socket) =>
        error === null ? done(null, socket) : done(ProxyFailure.connecting(proxy, error), null),
      ),
  });
  const added = ['host', new URL(server).host, ...authorization(proxy)];
  return {
    dispatch: ({ origin, path, headers, ...rest }, handler) =>
      agent.dispatch(
        { ...rest, origin: proxy.origin, path: origin + path, headers: [...headers, ...added] },
        handler,
      ),
    close: (idle) => closeAgent(agent, idle),
  };
}

const authorization = ({ credentials }: ProxyServer): string[] =>
  credentials === undefined ? [] : ['proxy-authorization', `Basic ${reveal(credentials)}`];

/** Connects through a tunnel, within the deadline for connecting. */
function tunnelConnector(
  proxy: ProxyServer,
  connectMs: number,
  connector: buildConnector.connector,
): buildConnector.connector {
  return (target, done) => {
    const address = target.port ? target.host : `${target.host}:443`;
    const request = proxy.origin.startsWith('https:') ? requestHttps : requestHttp;
    const [, credentials] = authorization(proxy);
    const connect = request(proxy.origin, {
      method: 'CONNECT',
      path: address,
      agent: false,
      lookup: lookupWithin(connectMs),
      headers: {
        host: address,
        ...(credentials === undefined ? {} : { 'proxy-authorization': credentials }),
      },
    });
    let isDone = false;

    const fail = (error: Error) => {
      if (isDone) return;
      isDone = true;
      clearTimeout(timer);
      connect.destroy();
      done(error, null);
    };

    const late = () => fail(new ProxyFailure(proxy.origin, 'timeout'));
    const timer =
      connectMs === Number.POSITIVE_INFINITY ? undefined : setTimeout(late, connectMs).unref();
    connect.once('error', (error) => fail(ProxyFailure.connecting(proxy, error)));
    connect.once('connect', ({ statusCode = 0 }, socket: Socket, head: Buffer) => {
      if (statusCode < 200 || statusCode > 299) {
        socket.destroy();
        return fail(new ProxyFailure(proxy.origin, statusCode));
      }

      if (isDone) return void socket.destroy();
      isDone = true;
      clearTimeout(timer);
      if (head.length > 0) socket.unshift(head);
      connector({ ...target, httpSocket: socket }, done);
    });
    connect.end();
  };
}
