// The answers that the conformance suite expects word for word, for both families of revisions.

const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const silence = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==';

export const text = (value: string) => ({ type: 'text' as const, text: value });
const image = { type: 'image' as const, data: pixel, mimeType: 'image/png' };
const userText = (value: string) => ({ role: 'user' as const, content: text(value) });

const mixed = {
  type: 'resource',
  resource: {
    uri: 'test://mixed-content-resource',
    mimeType: 'application/json',
    text: '{"test":"data","value":123}',
  },
};
const embedded = {
  type: 'resource',
  resource: {
    uri: 'test://embedded-resource',
    mimeType: 'text/plain',
    text: 'This is an embedded resource content.',
  },
};

export const fixedTools: Readonly<Record<string, Record<string, unknown>>> = {
  test_simple_text: { content: [text('This is a simple text response for testing.')] },
  test_image_content: { content: [image] },
  test_audio_content: { content: [{ type: 'audio', data: silence, mimeType: 'audio/wav' }] },
  test_embedded_resource: { content: [embedded] },
  test_multiple_content_types: { content: [text('Multiple content types test:'), image, mixed] },
  test_error_handling: {
    isError: true,
    content: [text('This tool intentionally returns an error for testing')],
  },
  test_logging_tool: { content: [text('Nothing is logged unless a level is asked for.')] },
  test_streaming_elicitation: { content: [text('Nothing is asked on a response stream.')] },
};

export const prompts = [
  { name: 'test_simple_prompt', description: 'A prompt without arguments' },
  {
    name: 'test_prompt_with_arguments',
    description: 'A prompt with two arguments',
    arguments: [
      { name: 'arg1', description: 'First', required: true },
      { name: 'arg2', description: 'Second', required: true },
    ],
  },
  {
    name: 'test_prompt_with_embedded_resource',
    description: 'A prompt that embeds a resource',
    arguments: [{ name: 'resourceUri', description: 'What to embed', required: true }],
  },
  { name: 'test_prompt_with_image', description: 'A prompt with an image' },
];

export function promptMessages(name: unknown, args: Record<string, unknown>) {
  switch (name) {
    case 'test_simple_prompt':
      return [userText('This is a simple prompt for testing.')];
    case 'test_prompt_with_arguments':
      return [userText(`Prompt with arguments: arg1='${args.arg1}', arg2='${args.arg2}'`)];
    case 'test_prompt_with_embedded_resource': {
      const resource = {
        uri: String(args.resourceUri),
        mimeType: 'text/plain',
        text: 'Embedded resource content for testing.',
      };
      return [
        { role: 'user', content: { type: 'resource', resource } },
        userText('Please process the embedded resource above.'),
      ];
    }
    case 'test_prompt_with_image':
      return [{ role: 'user', content: image }, userText('Please analyze the image above.')];
    default:
      return undefined;
  }
}

export const resources = [
  { uri: 'test://static-text', name: 'text', description: 'Text', mimeType: 'text/plain' },
  { uri: 'test://static-binary', name: 'binary', description: 'Bytes', mimeType: 'image/png' },
  {
    uri: 'test://watched-resource',
    name: 'watched',
    description: 'Watched',
    mimeType: 'text/plain',
  },
];

export const resourceTemplates = [
  {
    uriTemplate: 'test://template/{id}/data',
    name: 'template',
    description: 'By id',
    mimeType: 'application/json',
  },
];

export function resourceContents(uri: string) {
  if (uri === 'test://static-text') {
    return {
      uri,
      mimeType: 'text/plain',
      text: 'This is the content of the static text resource.',
    };
  }

  if (uri === 'test://static-binary') return { uri, mimeType: 'image/png', blob: pixel };
  if (uri === 'test://watched-resource') return { uri, mimeType: 'text/plain', text: 'Watched.' };
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
  if (id === undefined) return undefined;
  const data = { id, templateTest: true, data: `Data for ID: ${id}` };
  return { uri, mimeType: 'application/json', text: JSON.stringify(data) };
}
