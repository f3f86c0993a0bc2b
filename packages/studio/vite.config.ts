import tailwindcss from '@tailwindcss/vite';
import { defineConfig, type Plugin } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [tailwindcss(), preloadTypeface()],
  resolve: { conditions: ['@lastcall/source', 'browser', 'module', 'import', 'default'] },
  build: {
    target: 'es2023',
    // The page's policy allows no `data:` addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  // `npx vite` in this folder, beside a gateway: pages reload as they are edited.
  server: { proxy: { '/api': 'http://127.0.0.1:4100' } },
});

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
