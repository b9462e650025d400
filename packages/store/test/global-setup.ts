import { startPostgres } from '@call-attribution/test-tools/postgres';
import type { TestProject } from 'vitest/node';

/** Packages whose tests run on PostgreSQL too. */
export const alsoFor = ['service', 'sandbox', 'fleet', 'cli'];

/** Starts one PostgreSQL server for all test files. They wait for it when they first need it. */
export default function setup(project: TestProject): (() => Promise<void>) | undefined {
  const postgres = startPostgres();
  project.provide('postgresUrl', postgres?.url ?? '');
  return postgres === null ? undefined : () => postgres.close();
}
