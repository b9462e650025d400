import { ConfigurationError } from '@call-attribution/core/errors';
import { readJsonInput } from '@call-attribution/core/settings';
import type { FeedsContext } from '../feeds/read-feeds.ts';
import type { Viewer } from '../http/public-types.ts';

/**
 * Reads viewers from JSON: a list of `{ user, passwordHash, accounts, personal }`. `passwordFile` or
 * `passwordEnv` may stand in place of the hash. Without `accounts` they see all; `personal` is true
 * unless it is false. Throws a `ConfigurationError` with one sentence about what is wrong. zod is
 * loaded with the first list.
 *
 * @example
 * const viewers = await readViewers('[{"user": "harbor", "passwordEnv": "CALLS_HARBOR_PASSWORD", "accounts": ["101"]}]',
 *   { source: 'viewers.json', folder: '.', env: process.env });
 * const service = createService({ store, page: { viewers } });
 */
export async function readViewers(
  json: string,
  { source, folder, env }: Omit<FeedsContext, 'timeZone'>,
): Promise<Viewer[]> {
  const { viewersSchema } = await import('./viewers-schema.ts');
  const viewers = readJsonInput(viewersSchema({ folder, env }), json, source);
  const names = viewers.map(({ access }) => access.user);
  const twice = names.find((name, at) => names.indexOf(name) < at);
  if (twice === undefined) return viewers;
  throw new ConfigurationError('invalid_option', `${source} has the user ${twice} twice.`);
}
