import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { ServerDefinition } from './definition.ts';
import { buildSdkServer } from './sdk-server.ts';

/** What a transport serves: one definition for the stateless revision, and SDK servers for the older ones. */
export interface Front {
  readonly definition: ServerDefinition;
  /** A new SDK server, for one connection, session or request. */
  connect(): Server;
}

/** The front of a definition. */
export function frontOf(definition: ServerDefinition): Front {
  return { definition, connect: () => buildSdkServer(definition) };
}
