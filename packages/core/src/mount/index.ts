// Handlers of Node.js in places where the web API of requests and responses is spoken: Hono, Deno, Bun, edge adapters.
export { type FetchHandler, type FetchInfo, fetchHandler, type NodeHandler } from './fetch-handler.ts';
