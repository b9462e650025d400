// Pages of reference from the sources: one for each entry of each package, with every export and
// its doc comment.
import { join, relative } from 'node:path';
import { Application } from 'typedoc';

const root = join(import.meta.dirname, '..');

/**
 * Writes the pages and gives their addresses by package.
 * @param {readonly { name: string, source: string }[]} entries `name` is what a program imports
 * @param {string} out the folder of the pages
 */
export async function writeReference(entries, out) {
  const app = await Application.bootstrapWithPlugins({
    plugin: ['typedoc-plugin-markdown'],
    entryPoints: entries.map(({ source }) => source),
    tsconfig: join(import.meta.dirname, 'tsconfig.json'),
    basePath: root,
    displayBasePath: root,
    disableGit: true,
    sourceLinkTemplate: '{path}', // only the file names are used
    useHTMLAnchors: true,
    groupOrder: ['Functions', 'Classes', '*'],
    excludeExternals: true,
    excludePrivate: true,
    excludeInternal: true,
    skipErrorChecking: true,
    readme: 'none',
    out,
    logLevel: 'Error',
    validation: false,
    hideBreadcrumbs: true,
    hidePageHeader: true,
    entryFileName: 'index',
    mergeReadme: false,
    outputFileStrategy: 'modules',
    parametersFormat: 'table',
    interfacePropertiesFormat: 'table',
    classPropertiesFormat: 'table',
    typeDeclarationFormat: 'table',
    propertyMembersFormat: 'table',
    tableColumnSettings: {
      hideDefaults: true,
      hideInherited: true,
      hideModifiers: true,
      hideOverrides: true,
      hideSources: true,
    },
    useCodeBlocks: true,
    expandObjects: false,
  });
  const project = await app.convert();
  if (project === undefined) throw new Error('TypeDoc could not read the sources.');
  const names = new Map(entries.map(({ name, source }) => [relative(root, source), name]));
  for (const module of project.children ?? []) {
    const file = module.sources?.[0]?.fileName ?? '';
    const name = names.get(file);
    if (name === undefined)
      throw new Error(`TypeDoc made a module of ${file}, which is not an entry of a package.`);
    module.name = name.replace('@call-attribution/', '');
  }

  for (const reflection of Object.values(project.reflections))
    Reflect.deleteProperty(reflection, 'sources');
  await app.generateOutputs(project);
}
