from .camera import Person as Person
from .ground import Ground as Ground
from .scene import Scene as Scene
