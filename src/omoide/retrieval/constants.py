"""Every number that decides what a search finds and in which order, with what it was tuned on.

Three kinds of origin:

- "tuned on all sets": chosen by R@1, R@10 and MRR@10 on the development halves of LoCoMo, LongMemEval, JSQuAD, JaQuAD,
  Japanese captions, NL2Bash, CoSQA and tldr pages at once (`python -m bench.retrieval`), one value for all, in the middle of
  a flat top: a fifth more or less moves no set by more than two points.
- "tuned on LoCoMo": for long the only set with sessions, speakers and times. Expect less elsewhere.
- "chosen by judgement": no set measures it.

What was tried instead is in docs/decisions/0015, 0017, 0019, 0021 and 0030.
"""

# How much a term of a query says, against 1.0 for a word, a name or a pair of characters with meaning (analyzer).
# Tuned on all sets; 0.1 more or less moves no set by more than about a point.
SINGLE_CHARACTER_WEIGHT = 0.7
"""One Han or Hangul character; its pairs say more."""
HIRAGANA_WEIGHT = 0.5
"""A term in hiragana: mostly endings and particles."""
WEAK_WORD_WEIGHT = 0.3
"""Words that people ask with rather than about."""
ALIAS_WEIGHT = 0.3
"""The short or long form of a word that was not written: `config` for `configuration`."""
NAME_BOOST = 2.0
"""How many times as much a name in Latin letters or digits says among Japanese words: a compound is many terms, a name one.
1.5 misses some codes in 1,000 notes."""
SEMANTIC_NAME_BOOST = 3.0
"""The same where vectors add candidates."""
COMPOUND_SUM = 0.5
"""Of the weights of a compound's terms beyond the highest, the part that counts by words alone; 1 counts each in full. With
vectors, less than 1 loses a point on short Japanese notes."""

# The lexical score: BM25 with weighted fields, times coverage (lexical). Tuned on all sets.
SATURATION = 1.6
"""The number of occurrences at which a term gives half of what it can."""
LENGTH_NORMALIZATION = 0.75
"""How much a long text pays for its length: 0 nothing, 1 in full."""
COVERAGE_POWER = 0.5
"""How much it matters that all of the query is covered: 0 not at all; 1 hurts searching code."""
TOPIC_WEIGHT = 3.0
"""A term in the topic counts as three in the content. Chosen by judgement: the sets have no topics and no tags."""
TAGS_WEIGHT = 2.0
"""Chosen by judgement, as above."""

# Candidates: how many memories get an exact score (candidates). Tuned on all sets.
CANDIDATES = 30
"""Memories that are scored exactly; 25 lose a point on code, 50 gain nothing."""
CANDIDATES_BY_SETS = 16
"""The same for a query with pairs of characters where posting sets ranked all memories by all terms; 12 lose a point on
short Japanese notes."""
CANDIDATES_BY_LISTS = 50
"""The same where posting lists ranked them by some terms; 30 lose three points on short Japanese notes, 100 gain half a
point."""
TIED_CANDIDATES = 30
"""So many more if they rank the same; 20 lose a point where a tool is named in the other language."""
MAX_TIED_BY_LISTS = 100
"""Candidates in all, with those that rank the same, where posting lists ranked them. Chosen by judgement."""
SEMANTIC_CANDIDATES = 20
"""Candidates by words where vectors add others and tell them apart: more gain nothing."""
SEMANTIC_TIED_CANDIDATES = 10
"""So many more then if they rank the same: more gain nothing."""
FEW_TERMS = 2
"""Up to so many terms cannot tell more than `MAX_TIED_BY_LISTS` memories apart: then those with a term in the topic or tags
go first. Chosen by judgement."""

# Posting lists: what is read of a large store (candidates). Tuned on all sets.
MAX_SEARCH_TERMS = 10
"""Terms to search by; 8 lose three points on short Japanese notes, 16 gain nothing."""
MIN_POSTINGS = 300
"""Postings to read in any store: a tiny one is searched by every term."""
EXTRA_POSTINGS = 1_500
"""So many more, up to a quarter of the memories; without them code loses a point."""
POSTINGS_SHARE = 0.01
"""And this share of the memories."""
SEMANTIC_POSTINGS = 0.5
"""Of all these, the part that is read where vectors add candidates: all of them gain nothing."""
MAX_COUNTED = 20_000
"""Memories up to which a term is counted: a term in more is not searched for. Chosen by judgement, for speed."""
MAX_LIST_READ = 10_000
"""Memories read of the list of one term, the newest. Chosen by judgement, for speed."""

# Common terms (candidates). Tuned on all sets.
COMMON_COUNT = 400
"""A term is common only if more memories than this contain it, and more than one of these shares of them:"""
UNCOUNTED_SHARE = 0.15
"""its occurrences are not counted: it counts as one occurrence in the content;"""
SEMANTIC_IGNORED_SHARE = 0.1
"""it is not searched for where vectors add candidates;"""
PAIR_IGNORED_SHARE = 0.05
"""a pair of characters is not searched for at all: it is a part of many words."""

# The nudge by a memory's own fields, a factor on its score (lexical). Chosen by judgement: the sets do not have these
# fields. It decides between memories that match about equally well, and never outweighs the words.
NUDGE_BASE = 0.92
NUDGE_CONFIDENCE = 0.06
"""Added for a confidence of 1; as much for a relevance of 1."""
NUDGE_USE = 0.02
"""Added for `NUDGE_FULL_USE` references or more, less for fewer, by the logarithm."""
NUDGE_FULL_USE = 100
NUDGE_FRESH = 0.04
"""Added for what changed just now, half of it for what changed `NUDGE_HALF_LIFE` days ago."""
NUDGE_HALF_LIFE = 90
MAX_NUDGE = 1.1
"""The sum of the above: the largest nudge. It is the tie window: what scores less than the last of the best after its nudge,
divided by this, cannot get among them and is not nudged."""

# Words and vectors together (hybrid). SEMANTIC_WEIGHT, BLUR_POWER, COVERED_PART and NAMED_PART were tuned together on all
# sets and on sentences in two languages; chosen without a set, they do almost as well on it (docs/decisions/0017).
SEMANTIC_WEIGHT = 0.11
"""What each deviation above the scope's mean cosine adds to the share of the query that a memory covers."""
CLEAR_LENGTH = 50.0
"""Terms: where the average text is longer, its vector says less about it, and so adds less,"""
BLUR_POWER = 0.5
"""by this power of how much longer."""
COVERED_PART = 0.45
"""Of the share by words, the part that depends only on which terms a memory contains, not how often nor in how long a text:
a cosine does not show that a word is missing."""
NAMED_PART = 0.1
"""Of what a cosine adds, the part that a memory gets only as far as it contains the terms that the best one contains: where
a query names a tool, resemblance to another tool must not make up for it. More loses what is in the other language."""
KEY_PART = 0.6
"""Of the weight of all terms, what a memory gets on its score by words if it contains all key terms: identifiers and names
that very few memories contain. Resemblance to other memories must not outweigh them. By words alone nothing: code loses."""
KEY_COUNT, KEY_SHARE = 2, 0.002
"""The memories that may contain a key term: so many, or this share of them. For every rare word, code and chats lose two
points."""
NEAREST = 30
"""Memories nearest by sign bits that are compared exactly; with 50, LoCoMo gains .008 of R@10, the mean of all sets
nothing."""
NEAREST_CANDIDATES = 20
"""Of these and of the compared ones, the best that become candidates. Tuned on all sets."""
COMPARED = 25
"""Of the candidates by words, the best that are compared too: all of them gain less than .001."""
MIN_COSINE = 0.25
"""The cosine from which a memory without any term of the query is found: most nonsense stays below. Chosen by judgement."""
MIN_DEVIATIONS = 1.0
"""And the deviations above the mean from which it is. Chosen by judgement."""
PRIOR_COUNT = 20
"""The mean and deviation of a scope are estimated as if it had so many more memories at the usual values. Chosen by
judgement."""
USUAL_MEAN, USUAL_DEVIATION = 0.1, 0.1
"""The usual mean and deviation of cosines, over all sets."""
USUAL_ENGLISH_MEAN, USUAL_ENGLISH_DEVIATION = 0.1, 0.1
"""The same of the model for English."""
ENGLISH_PART = 0.67
"""What the model for English has of the say where both models compare, in deviations; the rest is the bundled one's. Tuned
on CoSQA, NL2Bash and LoCoMo: .6 gains .011 less on NL2Bash, .75 as much."""
ENGLISH_WEIGHT = 1.1
"""How many times as much deviations say then. Tuned as above: 1 gains .016 less on CoSQA, 1.15 loses .005 of R@1 on
LoCoMo."""

# The score of the best hit as a probability (confidence). Fitted on all pairs of sets (`python -m bench.scores`), with as
# many questions that the memories answer as others.
SMALL_STORE = 1_000
"""Memories of the smallest store whose term frequencies are used as they are. 300 to 3,000 do as well."""
WORDS_BASE, WORDS_FIT, WORDS_TERMS, WORDS_SIZE = -7.89, 16.5, 1.19, -0.22
"""By words: a constant, the largest share of the question that a memory contains, and the logarithms of the number of terms
and of memories."""
HYBRID_BASE, HYBRID_FIT, HYBRID_SIZE = -6.43, 12.47, -0.461
"""With vectors: a constant, the largest sum of that share and the cosine, and the logarithm of the number of memories. The
last follows from how much the largest of so many cosines grows by chance, at a deviation of about .1."""
ACROSS_BASE, ACROSS_FIT = -15.9, 38.7
"""For a memory in another script than the question: a constant, and its cosine."""

# Sessions, speakers and times (sessions). Tuned on LoCoMo.
FROM_EARLIER, FROM_LATER = 0.5, 0.3
"""What a memory gets of the score of the one before it in its session, and of the one after it; at the second a half of
that, at the third a third."""
OWN_PART = 0.6
"""Of a memory's own score, the part that others must exceed before they add to it: what stands well needs no neighbours.
Tuned on LoCoMo and on the turns of LongMemEval: 1 loses .013 of R@1 on LoCoMo, .3 loses what the other gains."""
SHORT_TURN = 60
"""Terms up to which a memory gets all of it; a longer one gets less, by how much longer it is. As above."""
SESSION_REACH = 3
"""How many memories before and after."""
TURN_LENGTH = 120
"""Terms up to which a memory of a session is a turn of a conversation and takes part; a document does not."""
SESSION_SEEDS = 50
"""Of the best by words, and as many by vectors, whose neighbours become candidates."""
SPEAKER_BOOST = 0.8
"""More for what a person said whom the query names."""
DATED_BOOST = 0.3
"""More for the time that the query asks about."""
TIMELY_BOOST = 0.3
"""More for a turn that names a time, when the query asks when."""
ASKING_PENALTY = 0.3
"""Less for a turn that is itself a question."""

# Messages and projects (project_search).
FEW_MEMORIES = 10
"""Memories that a project is assumed to have more than it has, so that one of few says no more than it should. Chosen by
judgement."""
DESCRIBED_RATE = 0.05
"""A term of a project's description counts as if so large a share of its memories contained it. Twice as much does as
well."""
NEAREST_IN_PROJECT = 3
"""Memories of each project nearest by sign bits that are compared exactly. Chosen by judgement."""

# Near-duplicates of a new memory (near_duplicates, blocking). Chosen by judgement on made-up notes (bench/similar_notes.py).
DUPLICATE_SIMILARITY = 0.55
"""Share of the terms of both texts that near-duplicates have in common, estimated."""
DUPLICATE_CANDIDATES = 5
"""Memories that are compared first: reading one takes longer than comparing it."""
MAX_DUPLICATES = 50
"""Near-duplicates that are counted."""

BROWSED = 500
"""Without a text, the last changed memories among which the most used of each day come first. Chosen by judgement."""
