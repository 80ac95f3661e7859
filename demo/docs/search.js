// The site's search, for people who do not know our words: it finds a page by its search words, too, which conf.py makes
// entries of the index. Rare words count more than common ones, titles and search words more than text, guides more than
// notes. Words may be cut short, joined or parted: "walljump", "wall jumping". Words that name no subject count for nothing:
// "why does my character float" asks for "character float". Sphinx loads this behind its searchtools.js.

var Scorer = {
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
  // Pages are ranked below; entries of the index would list them twice.
  score: ([, , , , score, , kind]) => (kind === "index" ? 0 : score),
};

// What an apostrophe leaves over, as of "doesn't", is among them.
const STOP_WORDS = new Set(
  (
    "a about am an and any are as at be been but by can could did do does doesn don for from get gets getting had has " +
    "have he her his how i if in into is isn it its let ll m make makes making me my need of on or our re s she should " +
    "so some t that the their them then there these they this those to use using ve want was we were what when where " +
    "which who why will with would you your"
  ).split(" "),
);

const Ranking = {
  title: 12,
  heading: 9, // and search words
  partial: 2.5,
  phrase: 24,
  least: 0.1, // of the best page's score; pages below it are not shown
  notes: /^(api|design)\/|^(architecture|behaviour|benchmarks|changelog|contributing)$|(^|\/)index$/,
  ofNotes: 0.5,

  words: (text) => splitQuery(text.toLowerCase()),

  // The stems of words. Those to ignore are left out, if there are others.
  stems: (text, ignored) => {
    const stemmer = new Stemmer();
    const words = Ranking.words(text);
    const telling = words.filter((word) => !ignored.has(word));
    return (telling.length ? telling : words).map((word) => stemmer.stemWord(word));
  },

  // Each page's title, its other headings and its search words, as lists of stems.
  phrases: (ignored) => {
    const { titles, alltitles, indexentries } = Search._index;
    const stems = (text) => Ranking.stems(text, ignored);
    const pages = titles.map((title) => ({ title: stems(title), words: [] }));
    for (const [heading, places] of Object.entries(alltitles))
      for (const [file, id] of places) if (id) pages[file].words.push(stems(heading));
    for (const [entry, places] of Object.entries(indexentries))
      for (const [file, id] of places) if (!id) pages[file].words.push(stems(entry));
    return pages;
  },

  // How well a page knows a word: by its title, its search words, the index of its text, or not at all.
  ofWord: (word, page, inText) => {
    const known = page.words.flat();
    if (page.title.includes(word)) return Ranking.title;
    if (known.includes(word)) return Ranking.heading;
    const isPart = (other) => word.length > 3 && other.startsWith(word);
    return Math.max(inText, [...page.title, ...known].some(isPart) ? Ranking.partial : 0);
  },

  // Whether a title or a search word is the whole query, or holds it.
  ofPhrase: (query, page) => {
    const joined = query.join("");
    const held = [page.title, ...page.words].map((phrase) => {
      if (phrase.join("") === joined) return 1;
      return query.every((word) => phrase.includes(word)) ? query.length / (phrase.length + 1) : 0;
    });
    return Ranking.phrase * Math.max(...held);
  },

  ofPage: (page, name, asked, query, rarity) => {
    const words = [...rarity.keys()];
    const known = words.map((word) => Ranking.ofWord(word, page, asked.get(word) || 0));
    const all = words.reduce((sum, word) => sum + rarity.get(word), 0) || 1;
    const found = words.reduce((sum, word, at) => sum + (known[at] > 0) * rarity.get(word), 0);
    const score = words.reduce((sum, word, at) => sum + known[at] * rarity.get(word), 0);
    const share = Ranking.notes.test(name) ? Ranking.ofNotes : 1;
    return share * ((score * found) / all + Ranking.ofPhrase(query, page));
  },
};

Search.performTermsSearch = ((byTerm) => (_wanted, excluded) => {
  const { docnames, titles, filenames } = Search._index;
  const text = new URLSearchParams(window.location.search).get("q") || "";
  const hasOthers = Ranking.words(text).some((word) => !STOP_WORDS.has(word));
  const ignored = hasOthers ? STOP_WORDS : new Set();
  const query = Ranking.stems(text, ignored);
  const asked = docnames.map(() => new Map());
  const rarity = new Map();
  for (const word of new Set(query)) {
    const found = byTerm(new Set([word]), excluded);
    for (const [name, , , , score] of found) asked[docnames.indexOf(name)].set(word, score / 5);
    rarity.set(word, Math.log(1 + docnames.length / (1 + found.length)));
  }
  const scores = Ranking.phrases(ignored).map((page, file) =>
    Ranking.ofPage(page, docnames[file], asked[file], query, rarity),
  );
  const least = Ranking.least * Math.max(...scores);
  return docnames
    .map((name, file) => [name, titles[file], "", null, scores[file], filenames[file], "text"])
    .filter(([, , , , score]) => score > 0 && score >= least);
})(Search.performTermsSearch);
