import { fieldsOf } from '../fields/select.ts';
import { prompts } from '../prompts/index.ts';
import type { MethodHandler } from '../protocol/definition.ts';
import { RpcError, rpcCodes } from '../protocol/errors.ts';
import { isObject } from '../protocol/messages.ts';
import { timeParts } from '../results/groups.ts';
import type { ToolSettings } from '../tools/call.ts';

const maxValues = 100;

/** Answers `completion/complete` for the arguments of prompts. */
export function completionHandlers(settings: ToolSettings): Readonly<Record<string, MethodHandler>> {
  const specs = fieldsOf(settings.fields, settings.version);
  const names = specs.map((spec) => spec.name);
  const values: Readonly<Record<string, readonly string[]>> = {
    ...Object.fromEntries(specs.flatMap(({ name, values }) => (values ? [[name, values.map(String)]] : []))),
    group_by: [...Object.keys(timeParts), ...names],
    min_talk_minutes: ['0.5', '1', '2', '5'],
  };
  return {
    async 'completion/complete'(params) {
      const { ref, argument } = params;
      if (!isObject(ref) || !isObject(argument) || typeof argument.name !== 'string') {
        throw new RpcError(rpcCodes.invalidParams, 'Invalid params: expected "ref" and "argument".');
      }
      if (ref.type === 'ref/prompt' && !prompts.some((prompt) => prompt.name === ref.name)) {
        throw new RpcError(rpcCodes.invalidParams, 'There is no prompt of this name.');
      }
      const known = Object.hasOwn(values, argument.name) ? (values[argument.name] ?? []) : [];
      const typed = String(argument.value ?? '').toLowerCase();
      const starts = (value: string): boolean => value.toLowerCase().startsWith(typed);
      const starting = known.filter(starts);
      const containing = known.filter((value) => !starts(value) && value.toLowerCase().includes(typed));
      const found = [...starting, ...containing];
      return {
        completion: {
          values: found.slice(0, maxValues),
          total: found.length,
          hasMore: found.length > maxValues,
        },
      };
    },
  };
}
