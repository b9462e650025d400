import type { FieldSpec, Version } from '@call-attribution/core';
import { derivedFields } from '@call-attribution/questions';
import { fieldsOf } from '../fields/select.ts';
import type { MethodHandler } from '../protocol/definition.ts';
import { isObject, RpcError, rpcCodes } from '../protocol/messages.ts';
import { type Prompt, prompts } from './prompts.ts';

/** Handles the methods for prompts. */
export function promptHandlers(): Readonly<Record<string, MethodHandler>> {
  return {
    'prompts/list': async () => ({
      prompts: prompts.map(({ name, title, description, arguments: args }) => ({
        name,
        title,
        description,
        arguments: args,
      })),
    }),
    async 'prompts/get'(params) {
      const prompt = promptNamed(params.name);
      const args = readArguments(prompt, params.arguments);
      return {
        description: prompt.description,
        messages: [{ role: 'user', content: { type: 'text', text: prompt.write(args) } }],
      };
    },
  };
}

function promptNamed(name: unknown): Prompt {
  const prompt = prompts.find((each) => each.name === name);
  if (prompt) return prompt;
  const known = prompts.map((each) => each.name).join(', ');
  throw new RpcError(rpcCodes.invalidParams, `There is no prompt with this name. The prompts are ${known}.`);
}

const mostCharacters = 200;

function readArguments(prompt: Prompt, given: unknown): Record<string, string> {
  const values = isObject(given) ? given : {};
  const args: Record<string, string> = {};
  for (const { name, required } of prompt.arguments) {
    const value = values[name];
    if (typeof value === 'string' && value.trim() !== '') args[name] = value.trim().slice(0, mostCharacters);
    else if (required)
      throw new RpcError(rpcCodes.invalidParams, `The prompt ${prompt.name} needs "${name}".`);
  }
  return args;
}

const mostCompletions = 100;

/** Handles `completion/complete` for the arguments of prompts. */
export function completionHandlers(settings: {
  readonly fields: readonly FieldSpec[];
  readonly version: Version;
}): Readonly<Record<string, MethodHandler>> {
  const specs = fieldsOf(settings.fields, settings.version);
  const completions: Readonly<Record<string, readonly string[]>> = {
    ...Object.fromEntries(specs.flatMap(({ name, values }) => (values ? [[name, values.map(String)]] : []))),
    group_by: [...derivedFields.map(({ name }) => name), ...specs.map((spec) => spec.name)],
    min_talk_minutes: ['0.5', '1', '2', '5'],
  };
  return {
    async 'completion/complete'(params) {
      const { ref, argument } = params;
      if (!isObject(ref) || !isObject(argument) || typeof argument.name !== 'string') {
        throw new RpcError(rpcCodes.invalidParams, 'Invalid params: expected "ref" and "argument".');
      }
      if (ref.type === 'ref/prompt') promptNamed(ref.name);
      const known = Object.hasOwn(completions, argument.name) ? (completions[argument.name] ?? []) : [];
      const typed = typeof argument.value === 'string' ? argument.value.toLowerCase() : '';
      const starts = (value: string): boolean => value.toLowerCase().startsWith(typed);
      const starting = known.filter(starts);
      const containing = known.filter((value) => !starts(value) && value.toLowerCase().includes(typed));
      const values = [...starting, ...containing];
      return {
        completion: {
          values: values.slice(0, mostCompletions),
          total: values.length,
          hasMore: values.length > mostCompletions,
        },
      };
    },
  };
}
