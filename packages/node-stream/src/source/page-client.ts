import type { Client } from '@call-attribution/core';

/** The part of core's client the streams stand on. Any client with it will do. */
export type PageClient = Pick<Client, 'version' | 'fetchPage'>;
