import tailwindcss from '@tailwindcss/vite';
import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [tailwindcss()],
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
