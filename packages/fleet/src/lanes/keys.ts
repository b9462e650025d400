import { createHash } from 'node:crypto';

/** The key of the job. */
export const jobKey = 'job';

/** The key of an account. Ids may hold dots, which part the words of a key. */
export const accountKey = (id: string): string => `account.${token(id)}`;

/** The key of lane `k` of an account. */
export const laneKey = (id: string, k: number): string => `lane.${token(id)}.${k}`;

/** The key of the account of a lane. */
export const accountKeyOfLane = (key: string): string => `account.${key.slice(5, key.lastIndexOf('.'))}`;

/** The key of a worker. */
export const workerKey = (name: string): string => `worker.${token(name)}`;

/** The key of a rate, by the reference of a credential and the API it is for. The reference itself may tell too much. */
export const rateKey = (baseUrl: string, reference: string): string =>
  `rate.${createHash('sha256').update(`${baseUrl}\n${reference}`).digest('hex').slice(0, 16)}`;

const token = (text: string): string =>
  text.replace(/[^\w-]/g, (sign) => `=${sign.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
