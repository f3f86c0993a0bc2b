import { expect, test } from 'vitest';
import { changesHowProgramsStart } from '../../src/domain/mcp/startup-variables.ts';

test.each([
  [
    'interpreters',
    'LUA_INIT_5_4 ERL_LIBS NODE_V8_COVERAGE R_PROFILE_USER JULIA_LOAD_PATH GUILE_LOAD_PATH ELIXIR_ERL_OPTIONS',
  ],
  [
    'packages of interpreters',
    'BUNDLE_PATH RUBYGEMS_GEMDEPS VIRTUAL_ENV TS_NODE_PROJECT TSX_TSCONFIG_PATH PSModulePath',
  ],
  ['Java', 'JRUBY_OPTS MAVEN_OPTS GRADLE_OPTS IBM_JAVA_OPTIONS'],
  ['compilers', 'RUSTC_WRAPPER GOFLAGS'],
  ['plugins', 'GTK_MODULES GIO_EXTRA_MODULES QT_PLUGIN_PATH'],
  ['other programs', 'LESSOPEN MANPAGER PUPPETEER_EXECUTABLE_PATH CHROME_PATH ELECTRON_RUN_AS_NODE'],
  ['what was listed first', 'NODE_OPTIONS PATH LD_PRELOAD BASH_ENV'],
])('[X28] variables of %s change how programs start, in any case of letters', (_what, names) => {
  const missed = names.split(' ').filter((name) => ![name, name.toLowerCase()].every(changesHowProgramsStart));
  expect(missed).toEqual([]);
});

test('[X28] variables that programs read as plain settings do not', () => {
  expect(['MODE', 'API_KEY', 'R_HOST', 'LANG', 'DEBUG', 'PORT'].filter(changesHowProgramsStart)).toEqual([]);
});
