// Light and dark: as the system has it, unless the reader says otherwise.

const palette = new Map();

function applyTheme() {
  palette.clear();
  if (state.theme === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = state.theme;
}

function isDark() {
  return state.theme === 'dark' || (state.theme === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches);
}

// A colour of the style sheet, for canvases. Asking for a computed style is slow, so each is asked for once.
function colour(name) {
  if (!palette.has(name)) palette.set(name, getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim());
  return palette.get(name);
}

// Okabe and Ito's colours, readable on both grounds; a level keeps its colour wherever it is.
const levelColours = ['blue', 'orange', 'green', 'purple', 'sky', 'vermillion', 'ink', 'grey'];

function levelColour(index) { return levelColours[index % levelColours.length]; }
