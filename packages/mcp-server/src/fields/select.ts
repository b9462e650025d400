import { type FieldSpec, fields, type Version } from '@call-attribution/core';
import { nearest } from '@call-attribution/query-dsl';
import { questionFields } from '@call-attribution/questions';
import { ToolError } from '../text/failures.ts';

const inBothVersions = [
  'sid',
  'date_added',
  'talk_minutes',
  'ani',
  'city',
  'state',
  'channel',
  'rank',
  'search_term',
];

/** The fields that `summary` means: what most questions about single calls need. */
const summary: Readonly<Record<Version, readonly string[]>> = {
  v3: [...inBothVersions, 'ppc_campaign', 'ppc_keywords', 'ppc_match_type', 'ppc_status'],
  v2: [...inBothVersions, 'phone_label', 'ppc_campaign_id', 'ppc_keyword_id', 'activity_type_id'],
};

const ofQuestions = questionFields();

/** Names of field groups that `fields` accepts besides field names. */
export const fieldGroups: readonly string[] = [
  'summary',
  ...new Set(fields.map((spec) => spec.group)),
  'all',
];

/** The fields that a version of the API has. */
export function fieldsOf(all: readonly FieldSpec[], version: Version): readonly FieldSpec[] {
  return all.filter((spec) => spec[version] !== null && spec.type !== 'null');
}

/**
 * Turns names of fields and groups into fields, each once, in the order of the names. Names of the other version are
 * understood. The id of the call always comes first: without it a row cannot be looked up.
 */
export function selectFields(
  all: readonly FieldSpec[],
  version: Version,
  names: readonly string[] = ['summary'],
): readonly FieldSpec[] {
  const available = fieldsOf(all, version);
  const selected = new Map<string, FieldSpec>();
  const add = (spec: FieldSpec | undefined): void => {
    if (spec) selected.set(spec.name, spec);
  };
  add(available.find((spec) => spec.name === 'sid'));
  for (const name of names.length === 0 ? ['summary'] : names) {
    const wanted = name.trim().toLowerCase();
    if (wanted === 'all') available.forEach(add);
    else if (wanted === 'summary') for (const each of summary[version]) add(findField(available, each));
    else if (available.some((spec) => spec.group === wanted))
      available.filter((spec) => spec.group === wanted).forEach(add);
    else add(findField(available, wanted) ?? unknownField(all, available, version, name));
  }
  return [...selected.values()];
}

/** A name as fields are written. */
export const toName = (given: string): string =>
  given
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_');

/** The field that a name means: its own, the one in v2 or v3, an alias, or what people call it, such as `keyword`. */
export function findField(specs: readonly FieldSpec[], given: string): FieldSpec | undefined {
  const name = toName(given);
  return (
    specs.find((spec) => spec.name === name) ??
    specs.find(
      (spec) =>
        spec.v2 === name ||
        spec.v3 === name ||
        spec.aliases?.includes(name) ||
        spec.otherNames?.includes(name),
    )
  );
}

function unknownField(
  all: readonly FieldSpec[],
  available: readonly FieldSpec[],
  version: Version,
  name: string,
): never {
  const groups = fieldGroups;
  if (ofQuestions.has(toName(name)) && !findField(all, name))
    throw new ToolError({ code: 'derived_field', name });
  if (findField(all, name)) throw new ToolError({ code: 'field_of_other_version', name, version, groups });
  const known = available.flatMap((spec) => [spec.name, ...(spec.otherNames ?? [])]);
  const meant = nearest(name, [...groups, ...known, ...ofQuestions.keys()]);
  throw new ToolError({ code: 'unknown_field', name, nearest: meant, groups });
}
