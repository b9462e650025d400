import { findNats, startNats } from '@call-attribution/test-tools/nats';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** A NATS server that test files share; empty where nats-server is not installed. */
    natsUrl: string;
  }
}

/** Starts one NATS server for all test files. Those that kill servers start their own. */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const nats = findNats() === null ? null : await startNats();
  project.provide('natsUrl', nats?.url ?? '');
  return nats === null ? undefined : () => nats.close();
}
