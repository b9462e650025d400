import type { FieldSpec, Version } from '@call-attribution/core';
import { nearest } from '@call-attribution/query-dsl';
import { argumentError } from '../arguments/tool-error.ts';
import { cleanText, cutText } from '../untrusted/clean.ts';

const summary: Readonly<Record<Version, readonly string[]>> = {
  v3: [
    'sid',
    'date_added',
    'talk_minutes',
    'ani',
    'city',
    'state',
    'channel',
    'rank',
    'search_term',
    'ppc_campaign',
    'ppc_keywords',
    'ppc_match_type',
    'ppc_status',
  ],
  v2: [
    'sid',
    'date_added',
    'talk_minutes',
    'ani',
    'city',
    'state',
    'channel',
    'rank',
    'search_term',
    'phone_label',
    'ppc_campaign_id',
    'ppc_keyword_id',
    'activity_type_id',
  ],
};

/** Names of field groups that `fields` accepts beside field names. */
export const fieldGroups = [
  'summary',
  'timing',
  'caller',
  'attribution',
  'ads',
  'device',
  'custom',
  'system',
  'all',
] as const;

/** The fields a version of the API has. */
export function fieldsOf(all: readonly FieldSpec[], version: Version): readonly FieldSpec[] {
  return all.filter((spec) => spec[version] !== null && spec.type !== 'null');
}

/**
 * The fields that a list of group and field names stands for, each once, in the order asked. Names of the other
 * version are understood. The id of the call always comes first: without it a row cannot be looked up.
 */
export function selectFields(
  all: readonly FieldSpec[],
  version: Version,
  asked: readonly string[] = ['summary'],
): readonly FieldSpec[] {
  const available = fieldsOf(all, version);
  const chosen = new Map<string, FieldSpec>();
  const add = (spec: FieldSpec | undefined): void => {
    if (spec) chosen.set(spec.name, spec);
  };
  add(available.find((spec) => spec.name === 'sid'));
  for (const name of asked.length === 0 ? ['summary'] : asked) {
    const wanted = name.trim().toLowerCase();
    if (wanted === 'all') available.forEach(add);
    else if (wanted === 'summary') for (const each of summary[version]) add(findField(available, each));
    else if (available.some((spec) => spec.group === wanted))
      available.filter((spec) => spec.group === wanted).forEach(add);
    else add(findField(available, wanted) ?? unknownField(all, available, version, name));
  }
  return [...chosen.values()];
}

/** One field by name, or an error that names the nearest. */
export function selectField(all: readonly FieldSpec[], version: Version, name: string): FieldSpec {
  const available = fieldsOf(all, version);
  return findField(available, name.trim().toLowerCase()) ?? unknownField(all, available, version, name);
}

/** The field of this name, under its own, its v2 or an alias name. */
function findField(specs: readonly FieldSpec[], name: string): FieldSpec | undefined {
  return (
    specs.find((spec) => spec.name === name) ??
    specs.find((spec) => spec.v2 === name || spec.v3 === name || spec.aliases?.includes(name))
  );
}

function unknownField(
  all: readonly FieldSpec[],
  available: readonly FieldSpec[],
  version: Version,
  name: string,
): never {
  const shown = cutText(cleanText(name), 60);
  const next = `Use field names or the groups ${fieldGroups.join(', ')}. The resource calls://fields lists every field.`;
  if (findField(all, name.trim().toLowerCase())) {
    throw argumentError(`The field "${shown}" does not exist in ${version} of the API.`, next);
  }
  const meant = nearest(name, [...fieldGroups, ...available.map((spec) => spec.name)]);
  throw argumentError(`There is no field "${shown}".${meant ? ` Did you mean "${meant}"?` : ''}`, next);
}
