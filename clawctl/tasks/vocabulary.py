"""Words that several kinds of tasks use; problem.part says which of them are on which side of the line."""

WORDS = (
    "apple, pear, plum, fig, lemon, grape, cherry, melon, peach, mango, cup, fork, spoon, plate, bowl, pan, pen, book, ruler, "
    "map, key, coin, ring, hat, shoe, sock, coat, scarf, glove, belt, dog, cat, cow, pig, hen, duck, goat, horse, sheep, fox, "
    "car, bus, train, bike, boat, ship, tram, truck, red, blue, green, white, black, pink, brown, grey, chair, table, lamp, sofa, "
    "bed, desk, shelf, clock, rose, tulip, lily, oak, pine, birch, elm, drum, flute, harp, horn, north, south, east, west, rain, "
    "snow, wind, fog, iron, gold, tin, zinc"
)

NAMES = (
    "Anna, Ben, Carla, David, Emma, Frank, Grace, Henry, Ivan, Julia, Karl, Laura, Mark, Nina, Oscar, Paula, Rosa, Simon, Tara, "
    "Victor, Wendy, Alice, Boris, Clara, Dora, Erik, Fiona, George, Helen, Jack, Kate, Leo, Maria, Noah, Olga, Peter, Ruth, Sam, "
    "Tina, Walter, Zoe, Adam, Bella, Hugo, Iris, Jonas, Lena, Max, Nora, Otto, Pia, Ralph, Sara, Theo, Uma, Vera, Will, Amy, Carl, Diana, "
    "Felix, Gina"
)
