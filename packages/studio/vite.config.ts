import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import tailwindcss from '@tailwindcss/vite';
import subsetFont from 'subset-font';
import { defineConfig, type Plugin } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [tailwindcss(), subsetTypeface(), preloadTypeface()],
  resolve: { conditions: ['@lastcall/source', 'browser', 'module', 'import', 'default'] },
  build: {
    target: 'es2023',
    // The page's policy allows no `data:` addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // What several pages use is one file: left to themselves, 84 files come out, and a page asks for 16 to 44 of them, some of 200 bytes.
    // Fewer than six pages would make the first page larger.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'common', minShareCount: 6 }] } } },
  },
  // `npx vite` in this folder, beside a gateway: pages reload as they are edited.
  server: { proxy: { '/api': 'http://127.0.0.1:4100' } },
});

/** The weights that the studio uses, of Latin letters, punctuation and currencies: a third smaller than the file in the package. */
function subsetTypeface(): Plugin {
  const ranges = [
    [0x20, 0x7e],
    [0xa0, 0xff],
    [0x152, 0x153],
    [0x2010, 0x2026],
    [0x20ac, 0x20ac],
    [0x2122, 0x2122],
    [0x2191, 0x2193],
    [0x2212, 0x2212],
  ] as const;
  const text = ranges
    .flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, at) => String.fromCodePoint(from + at)))
    .join('');
  return {
    name: 'subset-typeface',
    async generateBundle(_options, bundle) {
      // The licence of the typeface asks to be copied with it.
      const licence = fileURLToPath(import.meta.resolve('@fontsource-variable/geist/package.json')).replace(
        'package.json',
        'LICENSE',
      );
      this.emitFile({ type: 'asset', fileName: 'typeface-licence.txt', source: readFileSync(licence) });
      for (const file of Object.values(bundle))
        if (file.type === 'asset' && file.fileName.endsWith('.woff2'))
          file.source = await subsetFont(Buffer.from(file.source), text, {
            targetFormat: 'woff2',
            variationAxes: { wght: { min: 400, max: 700 } },
          });
    },
  };
}

/** The typeface is requested with the page, not when the style sheet has been read. */
function preloadTypeface(): Plugin {
  return {
    name: 'preload-typeface',
    transformIndexHtml: {
      order: 'post',
      handler: (_html, { bundle = {} }) =>
        Object.keys(bundle)
          .filter((name) => name.endsWith('.woff2'))
          .map((name) => ({
            tag: 'link',
            attrs: { rel: 'preload', as: 'font', type: 'font/woff2', href: `/${name}`, crossorigin: true },
            injectTo: 'head',
          })),
    },
  };
}
