import type { MethodHandler } from '../protocol/definition.ts';
import { RpcError, rpcCodes } from '../protocol/messages.ts';
import { failureText, ToolError } from '../text/failures.ts';
import type { ToolRunner, ToolSettings } from '../tools/call.ts';
import { assumptionsDocument, fieldsDocument, filtersDocument } from './documents.ts';

const markdown = 'text/markdown';

const resources = [
  {
    uri: 'calls://fields',
    name: 'fields',
    title: 'Fields of a call record',
    description: 'Every field with its group, unit and meaning, and whether it is masked.',
    mimeType: markdown,
  },
  {
    uri: 'calls://filters',
    name: 'filters',
    title: 'Filters',
    description: 'The filter language of q, with examples.',
    mimeType: markdown,
  },
  {
    uri: 'calls://assumptions',
    name: 'assumptions',
    title: 'Assumptions',
    description: 'What the description of the API leaves open and how this server reads it.',
    mimeType: markdown,
  },
];

const callTemplate = /^calls:\/\/call\/([^/?#]{1,600})$/;

/** Handles the methods for resources. */
export function resourceHandlers(
  settings: ToolSettings,
  run: ToolRunner,
): Readonly<Record<string, MethodHandler>> {
  const documents: Readonly<Record<string, () => string>> = {
    'calls://fields': () => fieldsDocument(settings.fields, settings.version, settings.reveal),
    'calls://filters': () => filtersDocument(settings.version),
    'calls://assumptions': () => assumptionsDocument(settings.timeZone),
  };
  return {
    'resources/list': async () => ({ resources }),
    'resources/templates/list': async () => ({
      resourceTemplates: [
        {
          uriTemplate: 'calls://call/{sid}',
          name: 'call',
          title: 'One call',
          description: 'One call by its sid, masked as in the tools.',
          mimeType: 'application/json',
        },
      ],
    }),
    async 'resources/read'(params, context) {
      const uri = String(params.uri);
      const write = Object.hasOwn(documents, uri) ? documents[uri] : undefined;
      if (write) return { contents: [{ uri, mimeType: markdown, text: write() }] };
      const sid = sidOf(uri);
      if (sid === undefined) throw notFound(params.uri);
      try {
        const call = await run('get_call', { sid }, context);
        return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(call) }] };
      } catch (error) {
        if (!(error instanceof ToolError)) throw error;
        const { problem } = error;
        const isMissing = problem.code === 'api_error' && problem.error.code === 'not_found';
        const code = isMissing ? rpcCodes.resourceNotFound : rpcCodes.internalError;
        throw new RpcError(code, failureText(problem), { uri });
      }
    },
  };
}

function sidOf(uri: string): string | undefined {
  const encoded = callTemplate.exec(uri)?.[1];
  if (encoded === undefined) return undefined;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}

function notFound(uri: unknown): RpcError {
  const known = [...resources.map((resource) => resource.uri), 'calls://call/{sid}'].join(', ');
  return new RpcError(rpcCodes.resourceNotFound, `Resource not found. The resources are ${known}.`, { uri });
}
