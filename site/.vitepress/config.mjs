import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitepress';
import { pagesFolder, sidebarOf } from '../pages.mjs';

const pages = JSON.parse(readFileSync(join(pagesFolder, 'pages.json'), 'utf8'));

/** Anchors as GitHub makes them, so that links work in both places. @param {string} heading */
const slugify = (heading) =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');

/** @param {string} path */
const isGenerated = (path) => /^(?:reference\/|docs\/(?:errors|fields)\.md$)/.test(path);

export default defineConfig({
  title: 'call-attribution',
  description: 'Read call records from a call-attribution API, without losing one',
  lang: 'en',
  // Where the site lies on its host: GitHub has it below the name of the repository.
  base: process.env.SITE_BASE ?? '/',
  srcDir: '.pages',
  outDir: 'dist',
  cacheDir: 'node_modules/.vitepress',
  cleanUrls: false,
  lastUpdated: false,
  head: [['link', { rel: 'icon', href: `${process.env.SITE_BASE ?? '/'}icon.svg` }]],
  markdown: {
    anchor: { slugify },
    toc: { slugify },
    // Readable on the gray of a block: comments of the usual themes are not.
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  vite: { server: { fs: { allow: ['..'] } }, build: { chunkSizeWarningLimit: 5000 } },
  themeConfig: {
    nav: [
      { text: 'Guides', link: '/guides/first-call-to-csv' },
      { text: 'Packages', link: '/packages/core' },
      { text: 'Reference', link: '/reference/core' },
      { text: 'Playground', link: '/playground' },
    ],
    sidebar: sidebarOf(pages),
    outline: { level: [2, 3] },
    // What is generated from the sources would bury what people write: every name is on the page of
    // its package as well.
    search: {
      provider: 'local',
      options: {
        _render: (src, env, md) => (isGenerated(env.relativePath) ? '' : md.render(src, env)),
      },
    },
    socialLinks: [{ icon: 'github', link: 'https://github.com/call-attribution/call-attribution' }],
  },
});
