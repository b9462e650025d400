// The conversation with the host of an MCP App: JSON-RPC over postMessage with the window around
// this one.

/** What a host says about how it looks. */
export interface HostContext {
  readonly theme?: 'light' | 'dark';
  readonly styles?: { readonly variables?: Readonly<Record<string, string>> };
}

/** What the host may send. */
export interface HostEvents {
  result(result: unknown): void;
  context(context: HostContext): void;
  cancelled(): void;
}

interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
}

const initializeId = 1;

/** Connects with the host. Calls `events` for what it sends, and reports the height of the page. */
export function connectHost(events: HostEvents): void {
  const send = (message: object): void =>
    window.parent.postMessage({ jsonrpc: '2.0', ...message }, '*');

  const handle: Readonly<Record<string, (params: Record<string, unknown>) => void>> = {
    'ui/notifications/tool-result': events.result,
    'ui/notifications/tool-cancelled': events.cancelled,
    'ui/notifications/host-context-changed': (params) => events.context(params as HostContext),
  };
  window.addEventListener('message', ({ source, data }: MessageEvent<Message>) => {
    if (source !== window.parent || typeof data !== 'object' || data === null) return;
    const { id, method, params = {}, result } = data;
    if (method === undefined) {
      if (id !== initializeId || !result) return;
      events.context((result.hostContext ?? {}) as HostContext);
      send({ method: 'ui/notifications/initialized', params: {} });
      reportSize(send);
    } else if (id === undefined) handle[method]?.(params);
    else if (method === 'ping' || method === 'ui/resource-teardown') send({ id, result: {} });
    else send({ id, error: { code: -32601, message: `Method not found: ${method}` } });
  });
  const appInfo = { name: 'call-attribution', version: '1' };
  const params = { appInfo, appCapabilities: {}, protocolVersion: '2026-01-26' };
  send({ id: initializeId, method: 'ui/initialize', params });
}

function reportSize(send: (message: object) => void): void {
  let last = 0;
  new ResizeObserver(() => {
    const height = Math.ceil(document.documentElement.getBoundingClientRect().height);
    if (height === last) return;
    last = height;
    send({ method: 'ui/notifications/size-changed', params: { height } });
  }).observe(document.documentElement);
}
