/**
 * Environment variables that make a program run, load or look for other code than its command and arguments say. Each of them can
 * run foreign code in some program: with `NODE_OPTIONS=--import=data:…`, every Node.js program runs the text.
 */
const NAMES: ReadonlySet<string> = new Set([
  // Where programs are found, and which one is the shell.
  ...['PATH', 'PATHEXT', 'COMSPEC', 'SHELL', 'CDPATH'],
  // What shells read or run when they start.
  ...['BASH_ENV', 'ENV', 'SHELLOPTS', 'BASHOPTS', 'IFS', 'PS4', 'PROMPT_COMMAND', 'ZDOTDIR'],
  // The folders with the settings of npm, git, pip and others, which name programs and code to load.
  ...['HOME', 'USERPROFILE', 'HOMEDRIVE', 'HOMEPATH', 'APPDATA', 'LOCALAPPDATA', 'XDG_CONFIG_HOME', 'XDG_CONFIG_DIRS'],
  // Options and code for interpreters.
  ...['BUN_OPTIONS', 'BUN_INSPECT_PRELOAD', 'TS_NODE_PROJECT', 'TSX_TSCONFIG_PATH', 'ELECTRON_RUN_AS_NODE'],
  ...['PERL5OPT', 'PERL5LIB', 'PERL5DB', 'PERLLIB', 'RUBYOPT', 'RUBYLIB', 'GEM_HOME', 'GEM_PATH', 'RUBYGEMS_GEMDEPS'],
  ...['JAVA_TOOL_OPTIONS', '_JAVA_OPTIONS', 'JDK_JAVA_OPTIONS', 'JAVA_OPTS', 'JAVA_HOME', 'CLASSPATH'],
  ...['IBM_JAVA_OPTIONS', 'MAVEN_OPTS', 'GRADLE_OPTS', 'JRUBY_OPTS'],
  ...['PHPRC', 'PHP_INI_SCAN_DIR', 'ELIXIR_ERL_OPTIONS', 'PSMODULEPATH', 'VIRTUAL_ENV', 'RUSTC_WRAPPER', 'GOFLAGS'],
  // Libraries that the C library loads.
  ...['GCONV_PATH', 'LOCPATH', 'GLIBC_TUNABLES'],
  // Plugins that desktop libraries load.
  ...['GTK_MODULES', 'GIO_EXTRA_MODULES', 'QT_PLUGIN_PATH'],
  // Programs that other programs start.
  ...['EDITOR', 'VISUAL', 'PAGER', 'BROWSER', 'SSH_ASKPASS', 'SUDO_ASKPASS', 'DOCKER_HOST', 'DOCKER_CONFIG'],
  ...['LESSOPEN', 'MANPAGER', 'PUPPETEER_EXECUTABLE_PATH', 'CHROME_PATH'],
]);

const PREFIXES: readonly string[] = [
  // Libraries that the dynamic loader of Linux or macOS puts into every program.
  ...['LD_', 'DYLD_'],
  // Functions that bash takes from its environment.
  'BASH_FUNC_',
  // PYTHONPATH, PYTHONSTARTUP, PYTHONHOME, PYTHONBREAKPOINT, PYTHONWARNINGS and more.
  'PYTHON',
  ...['NODE_', 'LUA_', 'ERL_', 'R_PROFILE', 'BUNDLE_', 'JULIA_', 'GUILE_'],
  ...['DOTNET_', 'CORECLR_', 'COR_', 'DENO_', 'OPENSSL_'],
  // Which commands git runs, and where packages come from and what they run when they are installed.
  ...['GIT_', 'NPM_CONFIG_', 'YARN_', 'PNPM_', 'COREPACK_', 'PIP_', 'PIPX_', 'UV_', 'CARGO_'],
];

/** True for a variable that changes how programs start. Upper and lower case are equal, because on Windows `Path` is `PATH`. */
export function changesHowProgramsStart(name: string): boolean {
  const upper = name.toUpperCase();
  return NAMES.has(upper) || PREFIXES.some((prefix) => upper.startsWith(prefix));
}
